#!/usr/bin/env python3
"""Leaves of pytrees: initial values, trained values and messages, for every way to write parameters and batches."""

import sys

import jax
import jax.numpy as jnp
import numpy

import braid

RANDOM = numpy.random.default_rng(0)


def draw(*shape):
    return RANDOM.standard_normal(shape).astype(numpy.float32) / 2


X, W = draw(4, 8), draw(4, 8)


def differences(found, wanted):
    return jax.tree.map(lambda a, b: float(numpy.abs(numpy.asarray(a) - numpy.asarray(b)).max()), found, wanted)


def agrees(name, loss, params, *arguments):
    """Compares a step of gradient descent with JAX."""
    graph = braid.from_jax(loss, params, *arguments)
    with braid.compile_graph(graph, optimizer="sgd", weight_decay=0.0) as step:
        found = float(step(arguments if len(arguments) > 1 else arguments[0], lr=1.0))
        trained = braid.to_jax(step, params)
    wanted, gradients = jax.value_and_grad(loss)(params, *arguments)
    assert abs(found - float(wanted)) < 1e-5, (name, found, wanted)
    after = jax.tree.map(lambda p, g: p - g, params, gradients)
    assert max(jax.tree.leaves(differences(trained, after))) < 1e-5, (name, differences(trained, after))
    print(name)


def scanned(stack, x):
    return jax.lax.scan(lambda carry, w: (jnp.tanh(carry @ (w["w"] if isinstance(w, dict) else w)), None), x, stack)[0]


def in_turn(first, second, x):
    return jnp.mean(scanned(second, scanned(first, x)) ** 2)


def stack(layers=2):
    return {"w": draw(layers, 8, 8)}


def check_frozen():
    def loss(params, base, x):
        return jnp.mean((params["base"] * x + base["w"]) ** 2)

    params, base = {"base": W}, {"w": 2 * W}
    graph = braid.from_jax(loss, params, base, X, frozen=("base",))
    with braid.compile_graph(graph, optimizer="sgd", weight_decay=0.0) as step:
        step(X, lr=1.0)
        after = params["base"] - jax.grad(loss)(params, base, X)["base"]
        assert differences(braid.to_jax(step, params), {"base": after})["base"] < 1e-5
        assert differences(braid.to_jax(step, base, "base"), base)["w"] == 0
    print("frozen arguments share a name with parameters")


def trees():
    agrees("one array agrees", lambda w, x: jnp.mean(w * x * x), W, X)
    agrees("a tuple agrees", lambda w, x: jnp.mean(w[0] * x * w[1]), (W, X), X)
    agrees("numbers of Python agree", lambda p, x: jnp.mean(p["w"] * x * p["scale"]),
           {"w": W, "scale": 0.5, "no": None}, X)
    agrees("stacks of numeric keys agree", lambda p, x: in_turn(p["0"], p["1"], x), {"0": stack(), "1": stack()}, X)
    agrees("stacks of a list agree", lambda p, x: in_turn(p[0], p[1], x), [draw(2, 8, 8), draw(2, 8, 8)], X)
    agrees("stacks of a nested list agree", lambda p, x: in_turn(*p["h"], x), {"h": [stack(), stack()]}, X)
    agrees("stacks of other depths agree", lambda p, x: in_turn(p[0], p[1], x @ p[2]),
           [stack(3), stack(), draw(8, 8)], X)
    agrees("a stack of one layer agrees", lambda p, x: jnp.mean(scanned(p["h"], x) ** 2), {"h": stack(1)}, X)
    agrees("a stack alone agrees", lambda p, x: jnp.mean(scanned(p, x) ** 2), draw(2, 8, 8), X)
    agrees("arguments of *args agree", lambda *given: jnp.mean(given[0]["w"] * given[1] * given[2]), {"w": W}, X, X)
    agrees("an argument that is None agrees", lambda p, x, mask=None: jnp.mean(p["w"] * x), {"w": W}, X, None)
    agrees("a diagonal by einsum agrees", lambda p, x: jnp.einsum("ii", p["w"] @ x.T) / 4, {"w": W}, X)
    check_frozen()


def shown(call, kind=braid.CompileError):
    try:
        call()
    except kind as error:
        print(error)
        return
    raise AssertionError("not refused")


def refuses():
    params = {"w": W}

    def clash(params, x):
        return jnp.mean(scanned({"w": params["a"]["w"]}, x) @ params["a"]["0"]["w"])

    shown(lambda: braid.from_jax(lambda params, batch: jnp.mean(params["w"] * batch["in"]["x"]), params,
                                 {"in": {"x": X}}))
    shown(lambda: braid.from_jax(lambda params, batch, y: jnp.mean(params["w"] * batch["x"]), params, {"x": X}, X))
    shown(lambda: braid.from_jax(lambda params, x: jnp.mean(params["w"] * x), {"w": W, "count": 3}, X))
    shown(lambda: braid.from_jax(clash, {"a": {"w": draw(2, 8, 8), "0": {"w": draw(8, 8)}}}, X))
    graph = braid.from_jax(lambda params, x, mask: jnp.mean(params["w"] * x), params, X, None)
    with braid.compile_graph(graph) as step:
        shown(lambda: step((X, X), lr=1.0), TypeError)
        shown(lambda: braid.to_jax(step, {"nothere": W}), braid.StepError)
        shown(lambda: braid.to_jax(step, W), braid.StepError)
        shown(lambda: braid.to_jax(step, W, "m"), braid.StepError)


{"trees": trees, "refuses": refuses}[sys.argv[1]]()
