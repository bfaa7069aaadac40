#!/usr/bin/env python3
"""compare_losses.py A B TOLERANCE: two metrics.jsonl have the same steps, and losses that differ by at most
TOLERANCE of themselves (0: not at all)."""
import json
import sys


def losses(path):
    with open(path) as lines:
        return [(entry["step"], kind, entry[kind]) for entry in map(json.loads, lines)
                for kind in ("loss", "eval_loss") if kind in entry]


first, second, tolerance = losses(sys.argv[1]), losses(sys.argv[2]), float(sys.argv[3])
if not first or [each[:2] for each in first] != [each[:2] for each in second]:
    sys.exit(f"{sys.argv[1]} has {len(first)} losses, {sys.argv[2]} has {len(second)}, or not of the same steps")
for (step, kind, a), (_, _, b) in zip(first, second):
    if not abs(a - b) <= tolerance * abs(a):
        sys.exit(f"step {step}: {kind} is {a} and {b}")
