#!/usr/bin/env python3
"""The rates of GEMMs on GPUs, as NVIDIA's model of its kernels predicts them, for the cost model.

  python3 -m venv heuristics && heuristics/bin/pip install nvidia-matmul-heuristics==0.1.0.27
  heuristics/bin/python bench/matmul_table.py

Writes lib/Cost/GemmRates/*.inc, a table for each GPU of lib/Target, which lib/Cost/Gemm.cpp interpolates, and
test/unit/Cost/GemmSamples.inc, predictions away from the points of the tables, which a test holds against it. Both are
committed: a build needs neither the wheel nor a GPU. The figures are predictions and have not been measured.

A point of a table is a GEMM of a whole number of waves of 128 x 128 tiles, one tile a multiprocessor, of a ratio of
rows to columns, and of a k. The model does not distinguish transposed operands, which is checked.
"""

import importlib.metadata
import math
import pathlib
import random

import nvMatmulHeuristics as heuristics

WHEEL = "nvidia-matmul-heuristics"
ROOT = pathlib.Path(__file__).resolve().parent.parent
BACKEND = heuristics.NvMatmulHeuristicsTarget.CUTLASS3

# For each architecture, the model's name for the card in lib/Target, and the number of its multiprocessors.
GPUS = {80: ("A100_SXM_80GB", 108), 86: ("A10_PCIE", 72), 89: ("L40S", 142), 90: ("H100_SXM", 132),
        100: ("B200", 148), 120: ("RTX_5090", 170)}
# The type of the operands and of the result, and the model's letters for it.
TYPES = {"Half": "TST", "HalfToFloat": "TSS", "Float": "SSS"}

TILE = 128
WAVES = [2**i for i in range(12)]
RATIOS = [4.0**i for i in range(-4, 5)]
KS = [2**i for i in range(6, 17)]

# GEMMs of a step of GPT-2 124M at 64 x 1024 tokens, its loss whole or in 32 chunks, and of TinyLlama at 4 x 4096.
TRAINING = [(65536, 3072, 768), (65536, 768, 3072), (65536, 2304, 768), (65536, 768, 2304), (65536, 768, 768),
            (65536, 50304, 768), (65536, 768, 50304), (2048, 50304, 768), (2048, 768, 50304), (16384, 11264, 2048),
            (16384, 2048, 11264), (16384, 5632, 2048), (16384, 2048, 5632), (16384, 2560, 2048), (16384, 2048, 2560),
            (16384, 2048, 2048), (4096, 32000, 2048), (4096, 2048, 32000)]
WEIGHTS = [(768, 3072, 65536), (3072, 768, 65536), (2304, 768, 65536), (768, 768, 65536), (50257, 768, 65536),
           (50257, 768, 2048), (11264, 2048, 16384), (2048, 5632, 16384), (2560, 2048, 16384), (2048, 2048, 16384),
           (32000, 2048, 4096)]


class Model:
    """Predicts the seconds of GEMMs on one GPU."""

    def __init__(self, gpu):
        self.interface = heuristics.NvMatmulHeuristicsInterfaceEx(
            backend=BACKEND, gpu=heuristics.NvMatmulHeuristicsNvidiaGpu[gpu])

    def seconds(self, m, n, k, letters, transposes=(False, True)):
        layout = heuristics.boolsToNvMatmulHeuristicsLayout(*transposes)
        self.interface._ensure_discovery_loaded(BACKEND, letters, layout)
        problem = self.interface.makeNvMatmulHeuristicsProblem(m, n, k, layout)
        return self.interface.get(problem, 1, precision=letters)[0]["runtime"]


def is_blind_to_transposes(model):
    layouts = [(False, False), (False, True), (True, False), (True, True)]
    shapes = [(65536, 768, 3072), (768, 3072, 65536), (320, 1984, 1440)]
    return all(len({model.seconds(*shape, letters, layout) for layout in layouts}) == 1
               for shape in shapes for letters in TYPES.values())


def tiles_of(waves, ratio, multiprocessors):
    """Returns the rows and columns of tiles, near the ratio, that fill the waves best."""
    tiles = waves * multiprocessors
    wanted = min(tiles, max(1.0, math.sqrt(tiles * ratio)))
    near = range(math.ceil(wanted / 1.4), math.floor(wanted * 1.4) + 1)
    rows = max((rows for rows in near if rows <= tiles),
               key=lambda rows: (rows * (tiles // rows), -abs(math.log(rows / wanted))))
    return rows, tiles // rows


def digits(value):
    return f"{value:.3g}" if value < 1000 else str(round(value))


def table(arch, version):
    gpu, multiprocessors = GPUS[arch]
    model = Model(gpu)
    assert is_blind_to_transposes(model), f"{gpu}: transposed operands change the prediction, which the table lacks"
    text = [f"// TFLOP/s of GEMMs on {gpu}, as {WHEEL} {version} predicts them (CUTLASS 3, never measured here).",
            "// Written by bench/matmul_table.py.  By type, by waves of tiles, and by m / n, a row for each; by k in a row.",
            f"// Waves: {', '.join(map(str, WAVES))}", f"// m / n: {', '.join(f'{ratio:g}' for ratio in RATIOS)}",
            f"// k: {', '.join(map(str, KS))}"]
    for name, letters in TYPES.items():
        text.append(f"// {name}")
        for waves in WAVES:
            for ratio in RATIOS:
                rows, columns = tiles_of(waves, ratio, multiprocessors)
                flops = [2 * waves * multiprocessors * TILE * TILE * k for k in KS]
                seconds = [model.seconds(rows * TILE, columns * TILE, k, letters) for k in KS]
                text.append(" ".join(digits(f / s / 1e12) + "," for f, s in zip(flops, seconds)))
    return "\n".join(text) + "\n"


def random_shapes(generator, count):
    """Returns sizes of layers: rows of a batch and features, either of which may be contracted."""
    for _ in range(count):
        rows, wide, deep = 1024 * generator.randint(2, 64), 128 * generator.randint(4, 200), 128 * generator.randint(4, 64)
        yield generator.choice([(rows, wide, deep), (rows, deep, wide), (wide, deep, rows)])


def samples(version):
    generator = random.Random(1)
    text = [f"// Microseconds of GEMMs as {WHEEL} {version} predicts them: architecture, type, m, n, k.",
            "// Written by bench/matmul_table.py.  Of training first, then of random layers."]
    for arch, (gpu, _) in GPUS.items():
        model = Model(gpu)
        for name, letters in TYPES.items():
            known = {"Half": TRAINING, "HalfToFloat": WEIGHTS, "Float": TRAINING}[name]
            shapes = known + list(random_shapes(generator, 30))
            rows = [f"{{{arch}, GemmType::{name}, {m}, {n}, {k}, {model.seconds(m, n, k, letters) * 1e6:.1f}}},"
                    for m, n, k in shapes]
            text += [" ".join(rows[at:at + 2]) for at in range(0, len(rows), 2)]
    return "\n".join(text) + "\n"


def main():
    version = importlib.metadata.version(WHEEL)
    for arch in GPUS:
        (ROOT / f"lib/Cost/GemmRates/sm_{arch}.inc").write_text(table(arch, version))
    (ROOT / "test/unit/Cost/GemmSamples.inc").write_text(samples(version))


if __name__ == "__main__":
    main()
