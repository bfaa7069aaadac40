"""noise.py LOG TARGETS: each noise scale is that of McCandlish et al. 2018, A.1, of two ranks of TARGETS samples."""

import json
import sys

small = int(sys.argv[2])
big = 2 * small
with open(sys.argv[1], encoding="utf-8") as log:
    steps = [json.loads(line) for line in log]
for step in steps:
    local, whole = step["grad_sq_local"], step["grad_sq_global"]
    noise, signal = (local - whole) / (1 / small - 1 / big), (big * whole - small * local) / (big - small)
    if not abs(step["noise_scale"] - noise / signal) <= 1e-3 * abs(noise / signal):
        sys.exit(f"step {step['step']}: {step['noise_scale']} is not {noise / signal}")
print(f"{len(steps)} noise scales of {small} and {big} targets")
