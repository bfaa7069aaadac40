#!/usr/bin/env python3
"""same_metrics.py A.jsonl B.jsonl [RTOL]

Compares two metrics files, times and the job aside: line for line and number for number,
or losses within a relative tolerance."""

import json
import sys


def read(path):
    with open(path) as file:
        lines = [json.loads(line) for line in file]
    return [{key: value for key, value in line.items() if key not in ("job", "seconds", "tokens_per_second")} for line in lines]


def main():
    one, other = read(sys.argv[1]), read(sys.argv[2])
    if not one or len(one) != len(other):
        sys.exit(f"{len(one)} and {len(other)} lines")
    tolerance = float(sys.argv[3]) if len(sys.argv) > 3 else None
    worst = 0.0
    for number, (a, b) in enumerate(zip(one, other), 1):
        if tolerance is None:
            if a != b:
                sys.exit(f"line {number}: {a} and {b}")
            continue
        key = "loss" if "loss" in a else "eval_loss"
        error = abs(a[key] - b[key]) / abs(b[key])
        worst = max(worst, error)
        if not error <= tolerance:
            sys.exit(f"line {number}: {key} {a[key]!r} and {b[key]!r}, relative error {error:.1e}")
    print(f"{len(one)} lines agree, worst relative error {worst:.1e}")


if __name__ == "__main__":
    main()
