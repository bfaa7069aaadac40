#!/usr/bin/env python3
"""squares.py METRICS...

Compares, in each step, the mean of the squared norms of ranks' gradients with that of
all, which is the square of the norm that is printed."""

import json
import sys

for path in sys.argv[1:]:
    with open(path) as file:
        steps = [json.loads(line) for line in file]
    for step in steps:
        if abs(step["grad_norm"] ** 2 - step["grad_sq_global"]) > 1e-4 * step["grad_sq_global"]:
            sys.exit(f"{path}: step {step['step']} has the norm {step['grad_norm']}, but the square {step['grad_sq_global']}")
    ratios = [step["grad_sq_local"] / step["grad_sq_global"] for step in steps]
    print(f"{len(steps)} steps, squares of ranks from {min(ratios):.3f} to {max(ratios):.3f} of all")
