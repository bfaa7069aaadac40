"""Functions of JAX on two ranks compute what JAX computes: dropout with keys, and losses over the sum of a mask.

  jax_ranks.py             starts two ranks for each case
  jax_ranks.py NAME MESH   is one of the ranks
"""

import os
import pathlib
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy

import braid

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "scripts"))

from ports import free_port  # noqa: E402

RANDOM = numpy.random.default_rng(0)


def draw(*shape):
    return RANDOM.standard_normal(shape).astype(numpy.float32)


def dropout(key, x, keep):
    return jnp.where(jax.random.bernoulli(key, keep, x.shape), x / keep, 0.0)


def noisy(params, x, y, key):
    """Bits belong to positions in the whole batch. The key has no rows."""
    first, second = jax.random.split(jax.random.wrap_key_data(key))
    hidden = dropout(first, jax.nn.gelu(x @ params["w"]), 0.8) + 0.1 * jax.random.normal(second, (8, 32))
    return jnp.mean((hidden @ params["v"] - y) ** 2)


def masked(params, x, y, mask):
    """Ranks have different numbers of rows that count."""
    error = ((jnp.tanh(x @ params["w"]) @ params["v"] - y) ** 2).sum(-1)
    return (error * mask).sum() / mask.sum()


def mean(params, x, y):
    return jnp.mean((jnp.tanh(x @ params["w"]) @ params["v"] - y) ** 2)


PARAMS = {"w": draw(16, 32) / 4, "v": draw(32, 4) / 4}
X, Y, MASK = draw(8, 16), draw(8, 4), numpy.asarray([1, 1, 1, 0, 0, 0, 0, 1], numpy.float32)
CASES = {"noisy": (noisy, (X, Y, numpy.asarray([3, 9], numpy.uint32))), "masked": (masked, (X, Y, MASK)),
         "mean": (mean, (X, Y))}
RUNS = [("noisy", "dp=2"), ("noisy", "tp=2"), ("masked", "dp=2")]


def check(name, found, after):
    loss, batch = CASES[name]
    wanted, gradients = jax.value_and_grad(loss)(PARAMS, *batch)
    assert abs(found - float(wanted)) <= 1e-5 * abs(float(wanted)), (found, wanted)
    for key, value in PARAMS.items():
        error = numpy.abs(after[key] - (value - 0.5 * gradients[key])).max()
        assert error <= 1e-5 * numpy.abs(value).max(), (key, error)


def run(name, **options):
    """Runs a step of gradient descent. Returns whether this is the first rank, which compares it with JAX."""
    loss, batch = CASES[name]
    graph = braid.from_jax(loss, PARAMS, *batch)
    with braid.compile_graph(graph, optimizer="sgd", weight_decay=0.0, sharded=False, **options) as step:
        found, after = float(step(batch, lr=0.5)), braid.to_jax(step, PARAMS)
    if after is not None:
        check(name, found, after)
    return after is not None


def microbatches():
    """Rows of a mean are divided. Numbers at positions, and a divisor of the whole batch, are refused."""
    run("mean", accumulate=2)
    for name, reason in (("noisy", "mixes the examples of the batch"), ("masked", "microbatches can only be accumulated")):
        try:
            run(name, accumulate=2)
        except braid.CompileError as error:
            assert reason in str(error), error
        else:
            raise AssertionError(f"{name} was accumulated")
    print("two microbatches agree, or are refused", flush=True)


def main():
    if len(sys.argv) > 1:
        name, mesh = sys.argv[1:]
        if run(name, mesh=mesh, zero=3 if mesh == "dp=2" else None):
            print(f"{name} agrees on {mesh}")
        return
    microbatches()
    for case in RUNS:
        port = str(free_port())
        places = [os.environ | {"RANK": str(number), "WORLD_SIZE": "2", "LOCAL_RANK": str(number), "LOCAL_WORLD_SIZE": "2",
                                "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port} for number in range(2)]
        ranks = [subprocess.Popen([sys.executable, __file__, *case], env=place) for place in places]
        assert [each.wait() for each in ranks] == [0, 0], case


main()
