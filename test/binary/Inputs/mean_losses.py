#!/usr/bin/env python3
"""Compares the losses of steps with the means of as many shorter ones: mean_losses.py SHORTER STEPS TOLERANCE"""

import json
import sys

shorter, steps = ([json.loads(line)["loss"] for line in open(path)] for path in sys.argv[1:3])
each = len(shorter) // len(steps)
for number, loss in enumerate(steps):
    mean = sum(shorter[number * each:(number + 1) * each]) / each
    if not abs(loss - mean) <= float(sys.argv[3]) * abs(mean):
        sys.exit(f"step {number + 1} has the loss {loss!r}, and the shorter steps have the mean {mean!r}")
if each * len(steps) != len(shorter) or not steps:
    sys.exit(f"{len(shorter)} and {len(steps)} losses")
print(f"{len(steps)} losses are the means of {len(shorter)}")
