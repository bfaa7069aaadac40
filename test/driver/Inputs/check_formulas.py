#!/usr/bin/env python3
"""check_formulas.py GRAPH.mlir N PLAN.json [f32|bf16]

Compiles a graph for N data parallel ranks under each stage of ZeRO, with one and with two
microbatches, and prints as formulas in the number P of parameters what the report says
that a rank holds and moves.  Fails where it is no such formula.

With a type the precision is bf16 and gradients are stored and reduced in that type;
what is moved is then in bytes for each parameter."""

import json
import os
import subprocess
import sys

WORD = 4  # bytes of an f32
F32 = {"parameters": WORD, "optimizer_state": 2 * WORD, "gradients": WORD}
# Working copies; masters and two moments.
BF16 = {"parameters": 2, "optimizer_state": 3 * WORD}
BF16_GRADIENTS = {"f32": WORD, "bf16": 2}


def plan_of(graph, ranks, zero, microbatches, path, gradients):
    options = [f"--mesh=dp={ranks}", f"--zero={zero}", f"--accumulate={microbatches}", f"--report={path}"]
    if gradients:
        options += ["--precision=bf16", f"--grad-dtype={gradients}", f"--reduce-dtype={gradients}"]
    subprocess.run(["braidc", graph, "--emit=memory", "-o", os.devnull, "--without=tg-make-decode"] + options, check=True)
    with open(path) as file:
        return json.load(file)


def formula(sharded, whole):
    """'4 P + 8 P/N', of bytes for each parameter."""
    terms = [f"{whole} P"] if whole else []
    return " + ".join(terms + ([f"{sharded} P/N"] if sharded else []))


def held(plan, parameters, ranks, sizes):
    """Each category has a number of bytes for each parameter, whole or sharded. Scalars do not count."""
    whole = sharded = 0
    for category, size in sizes.items():
        if category not in plan["persistent"]:
            continue
        entry = plan["persistent"][category]
        found = (entry["bytes"] - entry["padding_bytes"]) / parameters
        if abs(found - size) < 1e-3:
            whole += size
        elif abs(found - size / ranks) < 1e-3:
            sharded += size
        else:
            sys.exit(f"{category}: {found} bytes for each parameter, on {ranks} ranks")
    return formula(sharded, whole)


def moved(plan, parameters, ranks, unit):
    found = plan["step"]["bytes_moved"] / (unit * parameters) * ranks / (ranks - 1)
    volume = round(found)
    # Gradients of norms are rounded, and reduced apart from what they are added to.
    extra = 1e-3 if unit == WORD else 5e-3
    if abs(found - volume) > 0.8 / unit or found > volume + extra:
        sys.exit(f"{found} P (N-1)/N moved")
    return f"{volume} P (N-1)/N" + (" less what is kept" if found < volume - 1e-3 else "")


def main():
    graph, ranks, path = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    gradients = sys.argv[4] if len(sys.argv) > 4 else ""
    sizes = BF16 | {"gradients": BF16_GRADIENTS[gradients]} if gradients else F32
    unit = 1 if gradients else WORD
    parameters = None
    for zero in range(4):
        for microbatches in (1, 2):
            plan = plan_of(graph, ranks, zero, microbatches, path, gradients)
            if parameters is None:
                parameters = plan["persistent"]["parameters"]["bytes"] // sizes["parameters"]
            line = f"zero {zero}" + (f" with {microbatches} microbatches" if microbatches > 1 else "")
            line += f": {held(plan, parameters, ranks, sizes)} held"
            if microbatches == 1:
                categories = plan["programs"]["train"]["by_category"]
                full, reduced = (parameters * sizes["gradients"] // (ranks if sharded else 1) for sharded in (False, zero > 0))
                if gradients == "bf16":  # a sum over rows is f32 before it is rounded
                    reduced += 2 * max(t["bytes"] for t in plan["tensors"] if t["category"] == "parameters")
                if categories["gradients"] > reduced or categories["buckets"] > full:
                    sys.exit(f"{line}, but gradients take {categories}")
                line += ", gradients fit"
            print(f"{line}, {moved(plan, parameters, ranks, unit)} moved")


if __name__ == "__main__":
    main()
