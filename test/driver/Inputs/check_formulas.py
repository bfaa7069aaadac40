#!/usr/bin/env python3
"""check_formulas.py GRAPH.mlir N PLAN.json

Compiles a graph for N data parallel ranks under each stage of ZeRO, with one and with two
microbatches, and prints as formulas in the number P of parameters what the report says
that a rank holds and moves.  Fails where it is no such formula."""

import json
import subprocess
import sys

WORD = 4  # bytes of an f32


def plan_of(graph, ranks, zero, microbatches, path):
    options = [f"--mesh=dp={ranks}", f"--zero={zero}", f"--accumulate={microbatches}", f"--report={path}"]
    subprocess.run(["braidc", graph, "--emit=cpp", "-o", path + ".sources"] + options, check=True)
    with open(path) as file:
        return json.load(file)


def formula(cut, whole):
    """'4 P + 8 P/N', of bytes for each parameter."""
    terms = [f"{whole} P"] if whole else []
    return " + ".join(terms + ([f"{cut} P/N"] if cut else []))


def held(plan, parameters, ranks):
    """Each cause is 4 or 8 bytes for each parameter, whole or cut; scalars do not count."""
    whole = cut = 0
    for cause, words in (("parameters", 1), ("optimizer_state", 2), ("gradients", 1)):
        if cause not in plan["persistent"]:
            continue
        entry = plan["persistent"][cause]
        found = (entry["bytes"] - entry["padding_bytes"]) / parameters
        if abs(found - words * WORD) < 1e-3:
            whole += words * WORD
        elif abs(found - words * WORD / ranks) < 1e-3:
            cut += words * WORD
        else:
            sys.exit(f"{cause}: {found} bytes for each parameter, on {ranks} ranks")
    return formula(cut, whole)


def moved(plan, parameters, ranks):
    found = plan["step"]["bytes_moved"] / (WORD * parameters) * ranks / (ranks - 1)
    volume = round(found)
    if abs(found - volume) > 0.2 or found > volume + 1e-3:
        sys.exit(f"{found} P (N-1)/N moved")
    return f"{volume} P (N-1)/N" + (" less what is kept" if found < volume - 1e-3 else "")


def main():
    graph, ranks, path = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    parameters = None
    for zero in range(4):
        for microbatches in (1, 2):
            plan = plan_of(graph, ranks, zero, microbatches, path)
            if parameters is None:
                parameters = plan["persistent"]["parameters"]["bytes"] // WORD
            line = f"zero {zero}" + (f" with {microbatches} microbatches" if microbatches > 1 else "")
            line += f": {held(plan, parameters, ranks)} held"
            if microbatches == 1:
                causes = plan["programs"]["train"]["by_cause"]
                full, reduced = (parameters * WORD // (ranks if cut else 1) for cut in (False, zero > 0))
                if causes["gradients"] > reduced or causes["buckets"] > full:
                    sys.exit(f"{line}, but gradients take {causes}")
                line += ", gradients fit"
            print(f"{line}, {moved(plan, parameters, ranks)} moved")


if __name__ == "__main__":
    main()
