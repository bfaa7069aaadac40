#!/usr/bin/env python3
"""same_losses.py [--exactly] A.jsonl B.jsonl: both runs had the same losses, within 1e-5."""

import json
import sys


def losses(path):
    with open(path) as file:
        return [line["loss"] for line in map(json.loads, file) if "loss" in line]


def main():
    tolerance = 0 if "--exactly" in sys.argv else 1e-5
    first, second = map(losses, [path for path in sys.argv[1:] if path != "--exactly"])
    if len(first) != len(second) or not first:
        sys.exit(f"{len(first)} and {len(second)} losses")
    for a, b in zip(first, second):
        if abs(a - b) > tolerance * abs(a):
            sys.exit(f"losses {first} and {second} differ by more than {tolerance}")


if __name__ == "__main__":
    main()
