#!/usr/bin/env python3
"""A whole step of JAX as a library: ten steps of its own Adam give JAX's losses, parameters and states."""

import inspect
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy

import braid


def loss_of(params, x, y):
    return jnp.mean((jnp.tanh(x @ params["w"] + params["b"]) @ params["out"] - y) ** 2)


def adam(params, m, v, count, x, y, lr):
    loss, gradients = jax.value_and_grad(loss_of)(params, x, y)
    count += 1
    time = count.astype(jnp.float32)
    m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, gradients)
    v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, v, gradients)
    params = jax.tree.map(lambda p, m, v: p - lr * (m / (1 - 0.9 ** time)) / (jnp.sqrt(v / (1 - 0.999 ** time)) + 1e-3), params, m, v)
    return params, m, v, count, loss


def plain(params, x, y):
    loss, gradients = jax.value_and_grad(loss_of)(params, x, y)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, gradients), loss


def check(name, step, states, roots, batches, scalars):
    names = list(inspect.signature(step).parameters)
    graph = braid.from_jax_step(step, *states, *batches[0], *scalars, states=names[:len(states)])
    # States have the names of their arguments in front; parameters do not.
    named = lambda states: {".".join(filter(None, [root, key])): numpy.asarray(value) for root, tree in zip(roots, states)
                            for key, value in (tree.items() if isinstance(tree, dict) else [("", tree)])}
    with braid.compile_graph(graph) as compiled:
        for batch in batches:
            *states, loss = jax.jit(step)(*states, *batch, *scalars)
            found = compiled(batch, *map(float, scalars))
            assert abs(found - float(loss)) <= 1e-5 * abs(float(loss)), (found, loss)
        values = compiled.full_state_dict(moments=True)
    wanted = named(states)
    assert set(values) == set(wanted), (set(values), set(wanted))
    for key, value in wanted.items():
        assert numpy.abs(values[key] - value).max() <= 1e-5 * max(1.0, numpy.abs(value).max()), key
    print(f"{name}: {len(values)} tensors agree")


def lora_loss(lora, base, x, y):
    """Layers by scan, of frozen weights and of small ones that are trained."""
    def layer(h, its):
        weight, own = its
        return jnp.tanh(h @ weight["w"] + h @ own["a"] @ own["b"]), None
    h, _ = jax.lax.scan(layer, x, (base["layers"], lora["layers"]))
    return jnp.mean((h @ base["out"] - y) ** 2)


def lora_step(lora, momentum, base, x, y, lr):
    loss, gradients = jax.value_and_grad(lora_loss)(lora, base, x, y)
    momentum = jax.tree.map(lambda m, g: 0.9 * m + g, momentum, gradients)
    return jax.tree.map(lambda p, m: p - lr * m, lora, momentum), momentum, loss


def equal(found, wanted):
    return all(numpy.abs(a - b).max() <= 1e-5 for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(wanted), strict=True))


def check_frozen(draw):
    """A loss and a whole step with frozen weights, which are no part of a batch."""
    base = {"layers": {"w": draw(2, 8, 8) / 3}, "out": draw(8, 4) / 3}
    lora = {"layers": {"a": draw(2, 8, 2) / 3, "b": draw(2, 2, 8) / 9}}
    start, (x, y) = jax.tree.map(lambda p: 0.1 * p, lora), (draw(4, 8), draw(4, 4))
    graph = braid.from_jax(lora_loss, lora, base, x, y, frozen=("base",))
    with braid.compile_graph(graph, optimizer="sgd", weight_decay=0.0) as step:
        step((x, y), lr=0.1)
        gradients = jax.grad(lora_loss)(lora, base, x, y)
        assert equal(braid.to_jax(step, lora), jax.tree.map(lambda p, g: p - 0.1 * g, lora, gradients))
    graph = braid.from_jax_step(lora_step, lora, start, base, x, y, jnp.float32(0.1), states=("lora", "momentum"),
                                frozen=("base",))
    wanted, momentum = lora, start
    with braid.compile_graph(graph) as step:
        for _ in range(3):
            wanted, momentum, loss = lora_step(wanted, momentum, base, x, y, 0.1)
            assert abs(step((x, y), lr=0.1) - float(loss)) <= 1e-5
        assert equal(braid.to_jax(step, lora), wanted) and equal(braid.to_jax(step, start, "momentum"), momentum)
        assert equal(braid.to_jax(step, base, "base"), base)
    print("frozen weights stay")


class State(NamedTuple):
    count: int
    momentum: dict
    last: float


def dict_step(state, params, x, y):
    """Returns numbers that are no loss in front of the loss, by the order of keys."""
    loss, gradients = jax.value_and_grad(loss_of)(params["net"], x, y)
    momentum = jax.tree.map(lambda m, g: 0.9 * m + g, state.momentum, gradients)
    net = jax.tree.map(lambda p, m: p - 0.1 * m, params["net"], momentum)
    norm = sum(jnp.sum(g * g) for g in jax.tree.leaves(gradients))
    return {"batch_max": x.max(), "grad_norm": norm, "loss": loss,
            "state": State(state.count + 1, momentum, 2 * loss), "params": {"net": net, "steps": params["steps"] + 1}}


def check_results(draw):
    """The loss is found among other numbers. States that the step does not read, integers and floats return."""
    net = {"w": draw(8, 16) / 3, "b": draw(16), "out": draw(16, 2) / 4}
    state, params = State(0, jax.tree.map(jnp.zeros_like, net), 7.0), {"net": net, "steps": 3}
    x, y = draw(4, 8), draw(4, 2)
    graph = braid.from_jax_step(dict_step, state, params, x, y, states=("state", "params"))
    with braid.compile_graph(graph) as step:
        wanted = {"state": state, "params": params}
        for _ in range(2):
            wanted = jax.jit(dict_step)(wanted["state"], wanted["params"], x, y)
            assert abs(step((x, y)) - float(wanted["loss"])) <= 1e-5
        assert equal(braid.to_jax(step, params), wanted["params"])
        assert equal(braid.to_jax(step, state, "state"), wanted["state"])
    print("a loss among other results")


def behind_update(params, x, y):
    params, _ = plain(params, x, y)
    return params, loss_of(params, x, y)


def check_refused(draw):
    params, x, y = {"w": draw(8, 16), "b": draw(16), "out": draw(16, 2)}, draw(4, 8), draw(4, 2)
    for step in behind_update, lambda params, x, y: (plain(params, x, y)[0], x.max()):
        try:
            braid.from_jax_step(step, params, x, y, states=("params",))
        except braid.CompileError as error:
            print(error)


def main():
    random = numpy.random.default_rng(0)

    def draw(*shape):
        return random.standard_normal(shape).astype(numpy.float32)

    params = {"w": draw(8, 16) / 3, "b": draw(16), "out": draw(16, 2) / 4}
    batches = [(draw(4, 8), draw(4, 2)) for _ in range(10)]
    # A job of JAX goes on: its states are not 0.
    states = params, jax.tree.map(lambda p: 0.01 * p, params), jax.tree.map(lambda p: p * p, params), jnp.int32(3)
    check("adam", adam, states, ("", "m", "v", "count"), batches, (jnp.float32(1e-2),))
    check("sgd", plain, (params,), ("",), batches, ())
    check_frozen(draw)
    check_results(draw)
    check_refused(draw)


main()
