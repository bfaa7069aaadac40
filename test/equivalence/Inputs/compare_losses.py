#!/usr/bin/env python3
"""compare_losses.py METRICS.jsonl GOLDENS.json RUN TOLERANCE

Compares the losses (and gradient norms, where the model reports them) of a
metrics file with one run of a goldens file; tolerance relative."""

import json
import sys


def main():
    metrics_path, goldens_path, run, tolerance = sys.argv[1:]
    with open(metrics_path) as file:
        steps = [line for line in map(json.loads, file) if "loss" in line]
    with open(goldens_path) as file:
        golden = json.load(file)["runs"][run]["float32"]
    worst = 0.0
    for key, expected in (("loss", golden["losses"]), ("grad_norm", golden["grad_norms"])):
        actual = [step[key] for step in steps if key in step]
        if key == "loss" or actual:
            if len(actual) != len(expected):
                sys.exit(f"{len(actual)} values of {key}, expected {len(expected)}")
        for step, (one, other) in enumerate(zip(actual, expected), 1):
            error = abs(one - other) / abs(other)
            worst = max(worst, error)
            if not error <= float(tolerance):
                sys.exit(f"step {step}: {key} {one!r}, PyTorch has {other!r}, relative error {error:.2e}")
    print(f"largest relative error {worst:.1e}")


if __name__ == "__main__":
    main()
