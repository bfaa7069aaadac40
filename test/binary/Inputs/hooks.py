#!/usr/bin/env python3
"""hooks.py norms OUT.safetensors       each "norm:POINT" is the norm of its "keep:POINT"
hooks.py factor A B NAME FACTOR        parameter NAME moves FACTOR times as far in A as in B
hooks.py logs A.jsonl B.jsonl          the same norms at every step, within rounding

The first two read what `run --outputs` writes."""

import json
import math
import struct
import sys


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    length = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + length])
    tensors = {}
    for name, entry in header.items():
        begin, end = (8 + length + at for at in entry["data_offsets"])
        if entry["dtype"] == "F32":
            tensors[name] = struct.unpack(f"<{(end - begin) // 4}f", data[begin:end])
    return tensors


def norm(values):
    return math.sqrt(math.fsum(value * value for value in values))


def check(a, b, what):
    if not abs(a - b) <= 1e-5 * max(abs(a), abs(b)) or not math.isfinite(a):
        sys.exit(f"{what}: {a!r} and {b!r}")


def norms(path):
    tensors = read(path)
    names = [name.removeprefix("norm:") for name in tensors if name.startswith("norm:")]
    for name in names:
        check(tensors["norm:" + name][0], norm(tensors["keep:" + name]), name)
    print(f"{len(names)} norms: " + " ".join(f"{name} {tensors['norm:' + name][0]:.4g}" for name in names))


def factor(one, other, name, wanted):
    def moved(tensors):
        return norm([new - old for new, old in zip(tensors.get("updates " + name, tensors[name]), tensors[name])])
    a, b = moved(read(one)), moved(read(other))
    if not b > 0 or not abs(a - float(wanted) * b) <= 1e-3 * b:
        sys.exit(f"{name} moves by {a!r} and {b!r}")
    print(f"{name}: {a / b:.3f}")


def logs(one, other):
    steps = [[json.loads(line) for line in open(path, encoding="utf-8")] for path in (one, other)]
    keys = [key for key in steps[0][0] if key.startswith("norm:")]
    if not keys or len(steps[0]) != len(steps[1]):
        sys.exit(f"{len(keys)} norms, {len(steps[0])} and {len(steps[1])} steps")
    for a, b in zip(*steps):
        for key in keys + ["loss"]:
            check(a[key], b[key], f"{key} at step {a['step']}")
    print(f"{len(keys)} norms, {len(steps[0])} steps: the same")


{"norms": norms, "factor": factor, "logs": logs}[sys.argv[1]](*sys.argv[2:])
