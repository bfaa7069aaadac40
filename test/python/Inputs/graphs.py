#!/usr/bin/env python3
"""A graph by hand is compiled and trained with NumPy alone: usage: graphs.py GRAPH.mlir FOLDER"""

import contextlib
import sys
from pathlib import Path

import numpy

import braid


def refused(text, call, *arguments, **options):
    try:
        call(*arguments, **options)
    except braid.CompileError as error:
        assert text in str(error), error
        return error
    raise AssertionError(f"not refused: {text}")


def main():
    path, folder = sys.argv[1], Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    x = numpy.linspace(-2, 2, 64, dtype=numpy.float32).reshape(64, 1)
    batch = {"x": x, "t": numpy.sin(2 * x)}
    graph = braid.load_graph(path)
    assert graph.inputs == {"x": (64, 1), "t": (64, 1)}
    with braid.compile_graph(path, optimizer="adam", clip=1.0) as step:
        losses = [step(batch, lr=1e-2) for _ in range(200)]
        assert losses[0] > 0.3 > 0.01 > losses[-1] and losses[-1].step == 200 and losses[0].grad_norm > 0
        prediction = step.forward((x, batch["t"]))["prediction"]
        assert abs(((prediction - batch["t"]) ** 2).mean() - step.evaluate(batch)) < 1e-6
        state = step.state_dict()
        assert sorted(state) == ["hidden.bias", "hidden.weight", "out.bias", "out.weight"]
        h = x @ state["hidden.weight"].T + state["hidden.bias"]
        h = 0.5 * h * (1 + numpy.tanh(numpy.sqrt(2 / numpy.pi) * (h + 0.044715 * h**3)))
        assert numpy.allclose(h @ state["out.weight"].T + state["out.bias"], prediction, atol=1e-5)
        assert step.plan.peak_bytes == step.state.arena_bytes
        assert "<iframe" in step.plan._repr_html_() and "hidden" in step.plan.html()
        assert "adam" in repr(step) and "x[64, 1]" in repr(step)
        step.save(folder)
    with braid.compile_graph(graph, optimizer="adam", clip=1.0, seed=2) as other:
        other.load(folder)
        assert numpy.array_equal(other.forward(batch)["prediction"], prediction)
    print("200 steps without PyTorch" if "torch" not in sys.modules else "PyTorch was imported")
    bad = folder / "bad.mlir"
    bad.write_text(Path(path).read_text().replace("tensor<64x32xf32>", "tensor<64x33xf32>"))
    error = refused("write \"->", braid.compile_graph, bad)
    assert (error.file, error.line) == (str(bad), 16), (error.file, error.line)
    refused("cannot read", braid.compile_graph, folder / "none.mlir")
    plans = braid.fit(graph, gpus=2, gpu="a10", precision="f32")
    assert len(plans) == 8 and plans.best and all(row["peak_bytes"] > 0 for row in plans)
    assert "dp=2" in str(plans) and "<table>" in plans._repr_html_()
    with contextlib.suppress(ImportError):
        assert list(plans.to_pandas()["zero"]) == [0, 0, 1, 1, 2, 2, 3, 3]
    print("graphs that are wrong are refused, and right ones are planned")


main()
