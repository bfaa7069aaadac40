#!/usr/bin/env python3
"""Functions of JAX: ten steps give JAX's losses and parameters, in a tuple or a dict of arrays, and with lax.scan."""

import jax
import jax.numpy as jnp
import numpy

import braid


def layers(params, x):
    for layer in params["body"]:
        x = jnp.tanh(x @ layer["w"] + layer["b"])
    return x @ params["out"]


def scanned(params, x):
    def layer(x, one):
        return jnp.tanh(x @ one["w"] + one["b"]), None
    return jax.lax.scan(layer, x, params["body"])[0] @ params["out"]


def adam(loss, params, batches, rate=1e-3):
    """Returns losses, and parameters behind the last step."""
    zeros = jax.tree.map(jnp.zeros_like, params)
    mean, square, losses = zeros, zeros, []
    for number, batch in enumerate(batches, 1):
        value, gradient = jax.value_and_grad(loss)(params, *batch)
        mean = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, mean, gradient)
        square = jax.tree.map(lambda s, g: 0.999 * s + 0.001 * g * g, square, gradient)
        params = jax.tree.map(lambda p, m, s: p - rate * (m / (1 - 0.9**number)) / (jnp.sqrt(s / (1 - 0.999**number)) + 1e-3),
                              params, mean, square)
        losses.append(float(value))
    return losses, params


def compare(name, loss, params, batches):
    wanted, after = adam(loss, params, batches)
    graph = braid.from_jax(loss, params, *batches[0])
    with braid.compile_graph(graph, optimizer="adam", eps=1e-3) as step:
        found = [float(step(batch if len(batch) > 1 else batch[0], lr=1e-3)) for batch in batches]
        trained = braid.to_jax(step, params)
    assert all(abs(a - b) <= 1e-5 * abs(b) for a, b in zip(found, wanted)), (found, wanted)
    same = jax.tree.map(lambda a, b: float(jnp.abs(a - b).max()) <= 1e-5 * max(1.0, float(jnp.abs(b).max())), trained, after)
    assert jax.tree.structure(trained) == jax.tree.structure(params) and all(jax.tree.leaves(same)), same
    print(f"{name} agrees")


def main():
    random = numpy.random.default_rng(0)

    def draw(*shape):
        return random.standard_normal(shape).astype(numpy.float32)

    body = [{"w": draw(8, 8) / 3, "b": draw(8)} for _ in range(3)]
    params = {"body": body, "out": draw(8, 2)}
    batches = [(draw(4, 8), draw(4, 2)) for _ in range(10)]
    compare("a tuple", lambda p, x, y: jnp.mean((layers(p, x) - y) ** 2), params, batches)
    compare("a dict", lambda p, batch: jnp.mean((layers(p, batch["x"]) - batch["y"]) ** 2), params,
            [({"x": x, "y": y},) for x, y in batches])
    stacked = {"body": jax.tree.map(lambda *parts: numpy.stack(parts), *body), "out": params["out"]}
    compare("a scan", lambda p, x, y: jnp.mean((scanned(p, x) - y) ** 2), stacked, batches)


main()
