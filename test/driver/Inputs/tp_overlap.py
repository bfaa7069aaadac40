#!/usr/bin/env python3
"""Compares plans with and without --tp-overlap: tp_overlap.py GRAPH.mlir... FOLDER"""

import json
import pathlib
import subprocess
import sys

RATES = ["--link=1,0.01", "--compute=1,10"]


def plan_of(graph, flags, folder):
    report = folder / "plan.json"
    subprocess.run(["braidc", graph, *flags, *RATES, "--emit=memory", "-o", folder / "out", f"--report={report}"],
                   check=True, capture_output=True)
    plan = json.loads(report.read_text())
    train = plan["programs"]["train"]
    collectives = [c for c in plan["collectives"] if c["program"] == "train"]
    return train, collectives


def check(graph, flags, folder, growth):
    (whole, few), (split, many) = (plan_of(graph, flags + more, folder) for more in ([], ["--tp-overlap=auto"]))
    what = f"{graph.name} {' '.join(flags)}"
    assert len(many) > len(few), what
    assert split["bytes_moved"] == whole["bytes_moved"], what
    kept = [sum(entry["bytes"] * len(entry["units"]) for entry in train["kept_for_backward"]) for train in (whole, split)]
    assert kept[0] == kept[1], f"{what}: kept {kept}"
    assert split["peak_bytes"] <= growth * whole["peak_bytes"], f"{what}: {split['peak_bytes']} and {whole['peak_bytes']} bytes"
    saved = whole["exposed_s"] - split["exposed_s"]
    assert saved > 0.05 * whole["exposed_s"], f"{what}: exposed {whole['exposed_s']} and {split['exposed_s']}"
    assert split["predicted_s"] < whole["predicted_s"], f"{what}: {whole['predicted_s']} and {split['predicted_s']}"


def main():
    *graphs, folder = map(pathlib.Path, sys.argv[1:])
    for graph in graphs:
        for flags in (["--mesh=tp=2"], ["--mesh=tp=2", "--sequence-parallel"], ["--mesh=dp=2,tp=2", "--sequence-parallel", "--zero=3"],
                      ["--mesh=tp=2", "--sequence-parallel", "--recompute=full"]):
            check(graph, [*flags, "--without=comm-fill-waits"], folder, 1.025)
            check(graph, flags, folder, 1.05)


if __name__ == "__main__":
    main()
