#!/usr/bin/env python3
"""Derivatives that JAX functions state themselves are kept, compared or refused."""

import sys

import jax
import jax.numpy as jnp
import numpy
from jax import lax

import braid

FILE = __file__
RANDOM = numpy.random.default_rng(0)
X, Y, W = (RANDOM.standard_normal(shape).astype(numpy.float32) for shape in ((4, 8), (4, 8), (3, 8, 8)))


def line_of(mark):
    with open(FILE) as file:
        return next(number for number, line in enumerate(file, 1) if line.rstrip().endswith(f"# {mark}"))


def model(inner):
    """Returns a loss over three layers, each with `inner` behind its product."""
    def loss(params, x, y):
        for w in params["h"]:
            x = inner(x @ w)  # inner
        return jnp.mean((x - y) ** 2)
    return loss


#
# Stopped gradients
#


def straight_through(x):
    return x + lax.stop_gradient(jnp.floor(x) - x)


def in_function(x):
    return jax.jit(straight_through)(x)


def in_scan(x):
    return lax.scan(lambda carry, each: (jnp.tanh(carry) * lax.stop_gradient(carry) + each, None), x,
                    jnp.arange(3.0))[0]


def in_checkpoint(x):
    return jax.checkpoint(lambda y: jnp.sin(y) * lax.stop_gradient(jnp.sin(y)))(x)


def in_branch(x):
    return lax.cond(True, lambda y: y * lax.stop_gradient(y), jnp.sin, x)


def in_vmap(x):
    return jax.vmap(jax.vmap(lambda a: lax.stop_gradient(a) * jnp.sin(a)))(x)


def in_vmap_of_scan(x):
    return jax.vmap(in_scan)(x)


def in_grad(x):
    return jax.grad(lambda y: jnp.sum(lax.stop_gradient(y) * jnp.sin(y) * y))(x)


def in_grad_of_grad(x):
    inner = jax.grad(lambda y: jnp.sum(lax.stop_gradient(jnp.sin(y)) * jnp.sin(2 * y)))
    return jax.grad(jax.jit(lambda y: jnp.sum(inner(y) * jnp.cos(lax.stop_gradient(y)))))(x)


def in_jvp(x):
    return jax.jvp(lambda y: lax.stop_gradient(y) * jnp.sin(y), (x,), (jnp.cos(x),))[1]


def barrier(x):
    """Stops a gradient as docs/Importing.md describes for braid-import."""
    with jax.named_scope("stop_gradient"):
        return lax.optimization_barrier(x)


def softmax_by_hand(x):
    e = jnp.exp(x - lax.stop_gradient(x.max(-1, keepdims=True)))
    return e / e.sum(-1, keepdims=True)


#
# Rules that are derivatives
#


@jax.custom_vjp
def own_tanh(x):
    return jnp.tanh(x)


own_tanh.defvjp(lambda x: (jnp.tanh(x), jnp.tanh(x)), lambda y, g: (g * (1 - y * y),))


@jax.custom_jvp
def own_log(x, shift):
    return jnp.log(x * x + shift)


@jax.custom_vjp
def own_norm(x):
    return x * lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6)


def own_norm_backward(x, g):
    scale = lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6)
    return (scale * (g - x * scale * jnp.mean(g * x * scale, -1, keepdims=True)),)


own_norm.defvjp(lambda x: (own_norm(x), x), own_norm_backward)


@jax.custom_vjp
def own_loss(x, targets):
    return jax.nn.logsumexp(x, -1) - jnp.take_along_axis(x, targets[:, None], 1)[:, 0]


own_loss.defvjp(lambda x, targets: (own_loss(x, targets), (x, targets)),
                lambda kept, g: (g[:, None] * (jax.nn.softmax(kept[0]) - jax.nn.one_hot(kept[1], 8)), None))


own_log.defjvps(lambda t, y, x, shift: t * 2 * x / (x * x + shift), lambda t, y, x, shift: t / (x * x + shift))

#
# Rules that are not
#


@jax.custom_vjp
def clipped(x):
    return x


clipped.defvjp(lambda x: (x, None), lambda _, g: (jnp.clip(g, -1.0, 1.0),))


@jax.custom_vjp
def limited(x):
    return x * 2


limited.defvjp(lambda x: (x * 2, None), lambda _, g: (jnp.clip(2 * g, -300.0, 300.0),))


def passing(function):
    """Returns a function whose gradient passes straight through to its first argument."""
    rule = jax.custom_vjp(function)
    rule.defvjp(lambda *given: (function(*given), given[1:]), lambda kept, g: (g, *[None] * len(kept)))
    return rule


def within_bytes(x):
    return jnp.clip(x, -128, 127)


def below_billions(x):
    return jnp.minimum(x, 3e9)


def within_bits(x, bits):
    top = 2.0 ** (bits - 1)
    return jnp.clip(x, -top, top - 1)


def third_mode(x, mode):
    return jnp.where(mode == 3, jnp.sin(x), x)


@jax.custom_vjp
def barely_limited(x):
    return x * 2


barely_limited.defvjp(lambda x: (x * 2, None), lambda _, g: (jnp.clip(2 * g, -1e12, 1e12),))


@jax.custom_jvp
def reversed_gradient(x):
    return x * 1.0


reversed_gradient.defjvps(lambda t, y, x: -t)


@jax.custom_jvp
def zero_at_zero(x):
    return x * x + jnp.maximum(x, 0)


zero_at_zero.defjvps(lambda t, y, x: t * jnp.where(x == 0, 0.0, 2 * x + (x > 0)))


def reversed_in_scan(x):
    return lax.scan(lambda carry, each: (reversed_gradient(jnp.tanh(carry)) + each, None), x, jnp.arange(3.0))[0]


@jax.custom_jvp
def several(x, y, count):
    return x * y, x + count, count


@several.defjvp
def several_rule(values, tangents):
    x, y, count = values
    results = several(x, y, count)
    return results, (tangents[0] * 3 - tangents[1] * y, tangents[1] * x, numpy.zeros((), jax.dtypes.float0))


def of_several(x):
    first, second, count = several(x, jnp.sin(x), 2)
    return first + second * count


@jax.custom_vjp
def stopped_at_zero(x):
    return jnp.maximum(x, 0)


stopped_at_zero.defvjp(lambda x: (jnp.maximum(x, 0), x), lambda x, g: (jnp.where(x > 0, g, 0),))


@jax.custom_vjp
def without_derivative(x):
    return x * jnp.nan


without_derivative.defvjp(lambda x: (x * jnp.nan, None), lambda _, g: (g * jnp.nan,))


def in_loop(x):
    return lax.fori_loop(0, 2, lambda _, each: clipped(each), x)  # loop


def gradients_of(loss, params):
    """Returns the gradients of a compiled graph, by a step of gradient descent with the rate 1."""
    graph = braid.from_jax(loss, params, X, Y)
    with braid.compile_graph(graph, optimizer="sgd") as step:
        step((X, Y), lr=1.0)
        after = braid.to_jax(step, params)
    return jax.tree.map(lambda a, b: a - numpy.asarray(b), params, after), graph


def agrees(inner):
    params = {"h": list(W / 3)}
    loss = model(inner)
    found, graph = gradients_of(loss, params)
    for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(jax.grad(loss)(params, X, Y))):
        error = float(numpy.abs(a - b).max() / max(float(numpy.abs(b).max()), 1e-2))
        assert error < 1e-4, (inner, a, b)
    return graph.text


def refused(loss, mark, *texts, last=Y, **options):
    try:
        braid.from_jax(loss, {"h": list(W / 3)}, X, last, **options)
    except braid.CompileError as error:
        if mark:
            assert (error.file, error.line) == (FILE, line_of(mark)), str(error)
            assert str(error).startswith(f"{FILE}:{error.line}: error: "), str(error)
        assert all(text in str(error) for text in texts), str(error)
        return
    raise AssertionError(f"not refused: {texts}")


def stops():
    for inner in (straight_through, in_function, in_scan, in_checkpoint, in_branch, in_vmap, in_vmap_of_scan, in_grad,
                  in_grad_of_grad, in_jvp):
        assert "tg.stop_gradient" in agrees(inner), inner
        print(inner.__name__, "agrees")
    text = agrees(softmax_by_hand)
    assert "tg.softmax" in text and "tg.stop_gradient" not in text, text
    print("a softmax is recognized")
    found, wanted = (gradients_of(model(jax.vmap(lambda x, stop=stop: stop(x) * x)), {"h": list(W / 3)})[0]
                     for stop in (barrier, lax.stop_gradient))
    assert numpy.allclose(found["h"], wanted["h"], 1e-5, 1e-6), (found, wanted)
    refused(model(jax.grad(lambda x: jnp.sum(barrier(x) * x))), "", "a barrier in the scope stop_gradient stops no")
    print("a barrier stops gradients")


def rules():
    for inner in (jax.nn.relu, jax.nn.gelu, jax.nn.silu, jax.nn.softmax, own_tanh, own_norm,
                  lambda x: own_log(x, 1.0), lambda x: passing(third_mode)(x, 2)):
        assert "tg.stop_gradient" not in agrees(inner)
    agrees(lambda x: jnp.logaddexp(x, -jnp.inf) * x)
    agrees(lambda x: x * own_loss(x, jnp.arange(4))[:, None])
    print("derivatives pass")
    for inner in (reversed_gradient, zero_at_zero, jax.nn.relu6, jax.nn.softplus, reversed_in_scan, of_several,
                  lambda x: jnp.logaddexp(x, jnp.where(x < 0, -jnp.inf, x))):
        assert "tg.stop_gradient" in agrees(inner)
    params = {"h": [W[0], jnp.zeros_like(W[0]), W[2]]}
    for inner in (zero_at_zero, jax.nn.relu6):  # a layer of zeros, where the derivatives differ
        loss = model(lambda x: inner(x) + x)
        found, _ = gradients_of(loss, params)
        wanted = jax.grad(loss)(params, X, Y)
        assert all(numpy.allclose(a, b, 1e-4, 1e-5) for a, b in zip(found["h"], wanted["h"])), (found, wanted)
    print("rules of custom_jvp are spelled")
    for inner in (clipped, limited):
        refused(model(inner), "inner", f"{inner.__name__} has a rule of jax.custom_vjp, which a graph cannot have",
                'rules="ignore"')
    refused(model(clipped), "inner", "of about 1 the rule gives -1, and the derivative of the function is -2.3")
    refused(model(limited), "inner", "of about 1.05e+06 the rule gives -300, and ")
    refused(model(stopped_at_zero), "inner", "at the value 0 of argument 0", "the rule gives 0, ")
    for function in (within_bytes, below_billions):
        refused(model(passing(function)), "inner", f"{function.__name__} has a rule", "the function is 0")
    refused(model(lambda x: passing(within_bits)(x * 30, 8)), "", "within_bits has a rule", "the function is 0")
    refused(model(lambda x: passing(third_mode)(x, 3)), "", "third_mode has a rule of jax.custom_vjp")
    refused(lambda params, x, mode: jnp.mean(passing(third_mode)(x @ params["h"][0], mode)), "",
            "third_mode has a rule", last=numpy.int32(0))
    refused(model(barely_limited), "inner", "barely_limited has a rule", "e+12 the rule gives ")
    refused(model(in_loop), "loop", "clipped has a rule of jax.custom_vjp")
    refused(model(without_derivative), "inner", "without_derivative has a rule", "no finite derivative")
    print("others are refused")
    for solved in (jnp.linalg.inv, lambda x: jnp.linalg.solve(x, x)):
        refused(model(lambda x, solved=solved: x @ solved(lax.stop_gradient(x.T @ x))), "", "stablehlo.custom_call")
    print("linear algebra is refused")

    def large(params, x, y):
        return jnp.mean(own_tanh(jnp.broadcast_to(params["h"][0].mean(), (1 << 13, 1 << 12))))  # large
    refused(large, "large", "own_tanh", "elements, of which at most 16777216 are compared")
    braid.from_jax(large, {"h": list(W / 3)}, X, Y, rules="ignore")
    graph = braid.from_jax(model(reversed_gradient), {"h": list(W / 3)}, X, Y, rules="ignore")
    assert "tg.contract" in graph.text and "tg.stop_gradient" not in graph.text
    print("rules are ignored on demand")


def checks():
    params = {"h": list(W / 3)}
    for inner in (jax.nn.relu, straight_through):
        braid.from_jax(model(inner), params, X, Y, check=True)
    stacked = {"h": W / 3}

    def scanned(params, x, y):
        return jnp.mean((lax.scan(lambda carry, w: (jnp.tanh(carry @ w), None), x, params["h"])[0] - y) ** 2)
    braid.from_jax(scanned, stacked, X, Y, check=True)
    print("equal gradients pass the check")
    refused(model(reversed_gradient), "", "loss: the gradients of 'h.", " differ: ", " in JAX, and ", rules="ignore",
            check=True)
    print("different gradients do not")


{"stops": stops, "rules": rules, "checks": checks}[sys.argv[1]]()
