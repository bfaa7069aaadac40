#!/usr/bin/env python3
"""compare_logs.py METRICS.jsonl REFERENCE.jsonl TOLERANCE

Compares losses and gradient norms of two metrics files, step by step; tolerance
relative."""

import json
import sys


def read(path):
    with open(path) as file:
        return {line["step"]: line for line in map(json.loads, file) if "loss" in line}


def main():
    found_path, expected_path, tolerance = sys.argv[1:]
    found, expected = read(found_path), read(expected_path)
    if not expected or found.keys() != expected.keys():
        sys.exit(f"steps {sorted(found)}, expected {sorted(expected)}")
    worst = 0.0
    for step, line in expected.items():
        for key in ("loss", "grad_norm"):
            if (key in line) != (key in found[step]):
                sys.exit(f"step {step}: {key} is in one file only")
            if key not in line:
                continue
            error = abs(found[step][key] - line[key]) / abs(line[key])
            worst = max(worst, error)
            if not error <= float(tolerance):
                sys.exit(f"step {step}: {key} {found[step][key]!r}, expected {line[key]!r}, relative error {error:.2e}")
    print(f"largest relative error {worst:.1e}")


if __name__ == "__main__":
    main()
