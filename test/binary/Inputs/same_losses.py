#!/usr/bin/env python3
"""Compares the losses and gradient norms of logs: same_losses.py REFERENCE.jsonl LOG.jsonl..."""

import json
import pathlib
import sys

TOLERANCE = 1e-5


def read(name):
    return [json.loads(line) for line in pathlib.Path(name).read_text().splitlines()]


def main():
    reference = read(sys.argv[1])
    for name in sys.argv[2:]:
        lines = read(name)
        if len(lines) != len(reference):
            sys.exit(f"{name} has {len(lines)} steps, and {sys.argv[1]} has {len(reference)}")
        for one, other in zip(lines, reference):
            for key in ("loss", "grad_norm"):
                if not abs(one[key] - other[key]) <= TOLERANCE * max(abs(other[key]), 1e-3):
                    sys.exit(f"{name}, step {one['step']}: {key} {one[key]!r} and {other[key]!r}")
    print(f"{len(sys.argv) - 2} logs of {len(reference)} steps agree")


if __name__ == "__main__":
    main()
