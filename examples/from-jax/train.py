#!/usr/bin/env python3
"""Trains a function of JAX on points of a curve: usage: train.py [STEPS]"""

import sys

import jax
import jax.numpy as jnp
import numpy

import braid

BATCH, HIDDEN = 64, 32


def init(key):
    """Returns the parameters of three layers, 1 to HIDDEN to HIDDEN to 1."""
    sizes = [1, HIDDEN, HIDDEN, 1]
    keys = jax.random.split(key, len(sizes) - 1)
    return [{"w": jax.random.normal(k, (a, b)) * (2 / a) ** 0.5, "b": jnp.zeros(b)} for k, a, b in zip(keys, sizes, sizes[1:])]


def predict(params, x):
    """`[B, 1]` to `[B, 1]`."""
    for layer in params[:-1]:
        x = jnp.tanh(x @ layer["w"] + layer["b"])
    return x @ params[-1]["w"] + params[-1]["b"]


def loss(params, x, y):
    return jnp.mean((predict(params, x) - y) ** 2)


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 600
    random = numpy.random.default_rng(0)
    params = init(jax.random.PRNGKey(0))
    x = numpy.linspace(-2, 2, BATCH, dtype=numpy.float32)[:, None]

    graph = braid.from_jax(loss, params, x, numpy.sin(3 * x))
    step = braid.compile_graph(graph, optimizer="adam")
    print(step)
    for number in range(1, steps + 1):
        points = random.uniform(-2, 2, (BATCH, 1)).astype(numpy.float32)
        result = step((points, numpy.sin(3 * points)), lr=1e-2 * (1 - number / (steps + 1)))
        if number % max(1, steps // 6) == 0:
            print(f"step {number}  loss {result:.5f}")
    trained = braid.to_jax(step, params)
    print(f"JAX computes a loss of {loss(trained, x, jnp.sin(3 * x)):.5f} on the grid")


if __name__ == "__main__":
    main()
