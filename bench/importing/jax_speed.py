#!/usr/bin/env python3
"""Times steps of braid.from_jax beside jax.jit of the same step, on the CPU: the table of docs/Importing.md.

    bench/importing/jax_speed.py [STEPS]

A GPT-2 and a Llama of about 10 million parameters, with AdamW and 512 tokens a step, in float32. Both have two threads,
and take turns. Prints the least and the median milliseconds. Needs jax, and the package braid with its tools.
"""

import os
import statistics
import sys
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "2")
os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # the threads of both share the cores
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=true intra_op_parallelism_threads=2")
ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "test/import/Inputs")]

import jax
import jax.numpy as jnp
import jax_models
import numpy

import braid

ROWS, LENGTH = 4, 128
SIZES = {"VOCABULARY": 8192, "SIZE": 320, "HEADS": 5, "LAYERS": 6}
MODELS = {"GPT-2": (jax_models.gpt2, jax_models.gpt2_params), "Llama": (jax_models.llama, jax_models.llama_params)}


def jitted(loss):
    """Returns a step of JAX that overwrites its states, with the AdamW of Braid's step."""
    def step(params, first, second, count, tokens, targets):
        value, gradients = jax.value_and_grad(loss)(params, tokens, targets)
        params, first, second = jax_models.adamw(params, gradients, first, second, count)
        return params, first, second, count + 1, value
    return jax.jit(step, donate_argnums=(0, 1, 2))


def measure(name, steps):
    loss, make = MODELS[name]
    params = make()
    if "wpe" in params:
        params["wpe"] = jax_models.normal(jax.random.PRNGKey(0), LENGTH, SIZES["SIZE"])
    random = numpy.random.default_rng(0)
    tokens, targets = (random.integers(0, SIZES["VOCABULARY"], (ROWS, LENGTH)).astype(numpy.int32) for _ in range(2))
    count = sum(leaf.size for leaf in jax.tree.leaves(params))
    graph = braid.from_jax(loss, params, tokens, targets)
    ours = braid.compile_graph(graph, beta2=0.95, eps=1e-3, weight_decay=0.1, run_options={"threads": 2})
    theirs, zeros = jitted(loss), lambda: jax.tree.map(jnp.zeros_like, params)
    state, times = (params, zeros(), zeros(), jnp.float32(1)), {"braid": [], "jax": []}
    for number in range(steps + 2):
        start = time.perf_counter()
        found = ours((tokens, targets), lr=1e-2)
        middle = time.perf_counter()
        *state, wanted = theirs(*state, tokens, targets)
        wanted = float(wanted)
        times["braid"].append(middle - start)
        times["jax"].append(time.perf_counter() - middle)
        # Later losses differ: the rate is large, and amplifies roundings.
        assert number or abs(found - wanted) <= 1e-5 * abs(wanted), (found, wanted)
    cells = [f"{1e3 * min(each[2:]):.1f}, {1e3 * statistics.median(each[2:]):.1f}" for each in times.values()]
    print(f"| {name}, {count / 1e6:.1f} million | {' | '.join(cells)} |", flush=True)


def main():
    for key, value in SIZES.items():
        setattr(jax_models, key, value)
    print("| model | `braid.from_jax` | `jax.jit` |\n|---|---|---|", flush=True)
    for name in MODELS:
        measure(name, int(sys.argv[1]) if len(sys.argv) > 1 else 20)


main()
