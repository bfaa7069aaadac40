#!/usr/bin/env python3
"""A whole step of JAX as a library: ten steps of its own Adam give JAX's losses, parameters and states."""

import subprocess
import sys
from pathlib import Path

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


def graph_of(step, states, batch, scalars, folder):
    lowered = jax.jit(step, donate_argnums=tuple(range(len(states)))).lower(*states, *batch, *scalars)
    text = lowered.compiler_ir().operation.get_asm(print_generic_op_form=True, enable_debug_info=True)
    (folder / "step.mlir").write_text(text)
    subprocess.run(["braid-import", folder / "step.mlir", "-o", folder / "graph.mlir"], check=True)
    return braid.load_graph(folder / "graph.mlir")


def check(name, step, states, roots, batches, scalars, folder):
    graph = graph_of(step, states, batches[0], scalars, folder)
    # States have the names of their arguments in front; parameters do not.
    named = lambda states: {".".join(filter(None, [root, key])): numpy.asarray(value) for root, tree in zip(roots, states)
                            for key, value in (tree.items() if isinstance(tree, dict) else [("", tree)])}
    graph.values = named(states)
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


def main():
    folder, random = Path(sys.argv[1]), numpy.random.default_rng(0)
    folder.mkdir(parents=True, exist_ok=True)

    def draw(*shape):
        return random.standard_normal(shape).astype(numpy.float32)

    params = {"w": draw(8, 16) / 3, "b": draw(16), "out": draw(16, 2) / 4}
    batches = [(draw(4, 8), draw(4, 2)) for _ in range(10)]
    # A job of JAX goes on: its states are not 0.
    states = params, jax.tree.map(lambda p: 0.01 * p, params), jax.tree.map(lambda p: p * p, params), jnp.int32(3)
    check("adam", adam, states, ("", "m", "v", "count"), batches, (jnp.float32(1e-2),), folder)
    check("sgd", plain, (params,), ("",), batches, (), folder)


main()
