#!/usr/bin/env python3
"""compare_meshes.py GRAPH.mlir RANKS FOLDER [OPTION...]

Compares all meshes of so many ranks, and compiles the graph for each row and for each layout that is refused:
what the row says is in the report of that compilation, and the reason is its error.  Rows go by predicted step;
their meshes are all products of the ranks, each once."""

import json
import os
import pathlib
import re
import subprocess
import sys

AXES = ["pp", "dp", "cp", "tp"]


def products(ranks, axes):
    if not axes:
        return [()] if ranks == 1 else []
    return [((axes[0], size),) * (size > 1) + rest for size in range(1, ranks + 1) if ranks % size == 0
            for rest in products(ranks // size, axes[1:])]


def candidates(ranks):
    found = []
    for mesh in products(ranks, AXES):
        has_shards = any(name in ("dp", "cp") for name, _ in mesh)
        text = ",".join(f"{name}={size}" for name, size in mesh)
        found += [(text, zero) for zero in ((0, 1, 3) if has_shards else (None,))]
    return found


def options_of(layout, options):
    """Those that have a meaning on this mesh; the limit is compared with, and not kept."""
    mesh, zero = layout["mesh"], layout["zero"]
    needs = {"--schedule": "pp", "--chunks": "pp", "--stages": "pp", "--context": "cp", "--sequence-parallel": "tp"}
    kept = [option for option in options
            if needs.get(option.split("=")[0], "") in mesh and not option.startswith("--memory-limit=")]
    return [f"--mesh={mesh}"] + ([f"--zero={zero}"] if zero is not None else []) + kept


def compile_layout(graph, layout, options, folder):
    report = folder / "plan.json"
    report.unlink(missing_ok=True)
    command = ["braidc", graph, "--emit=memory", "-o", os.devnull, f"--report={report}"] + options_of(layout, options)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return done.stderr, None
    return None, json.loads(report.read_text())


def main():
    graph, ranks, folder, options = sys.argv[1], int(sys.argv[2]), pathlib.Path(sys.argv[3]), sys.argv[4:]
    output = folder / "meshes.json"
    subprocess.run(["braidc", graph, f"--mesh={ranks}", "--compare=mesh", f"--report={output}"] + options, check=True)
    comparison = json.loads(output.read_text())
    rows, refused = comparison["meshes"], comparison["not_possible"]
    seen = sorted((row["mesh"], -1 if row["zero"] is None else row["zero"]) for row in rows + refused)
    assert seen == sorted((mesh, -1 if zero is None else zero) for mesh, zero in candidates(ranks)), seen
    assert [row["predicted_s"] for row in rows] == sorted(row["predicted_s"] for row in rows)
    for row in rows:
        error, plan = compile_layout(graph, row, options, folder)
        assert plan, (row, error)
        said = (row["peak_bytes"], row["bytes_moved"], row["predicted_s"])
        made = (plan["arena_bytes"], plan["step"]["bytes_moved"], plan["predicted_step_s"])
        assert said == made and row["predicted_s"] > 0, (row, made)
        if plan.get("pipeline"):
            assert row["predicted_s"] > plan["pipeline"]["table_s"] > 0, row
    for row in refused:
        error, plan = compile_layout(graph, row, options, folder)
        assert not plan and re.sub(r"\s+", " ", row["reason"]) in re.sub(r"\s+", " ", error), (row, error)
    print(f"{len(rows)} rows are those of their compilations, {len(refused)} reasons are their errors")


main()
