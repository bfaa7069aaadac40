#!/usr/bin/env python3
"""Are a report's moments in 8 bits as many bytes as its tensors say?

    moment_bytes.py F32.json INT8.json

A moment of n numbers in f32 has n bytes of codes and 4 for each scale, or 2n in bf16.
"""

import json
import math
import sys


def moments(path):
    plan = json.load(open(path))
    tensors = {t["name"]: t for t in plan["tensors"] if t["category"] == "optimizer_state"}
    return plan["persistent"]["optimizer_state"]["bytes"], tensors


def main():
    wide_bytes, wide = moments(sys.argv[1])
    bytes, stored = moments(sys.argv[2])
    expected = 0
    for name, tensor in wide.items():
        numbers = math.prod(tensor["shape"])
        scales = stored.get(f"{name}.scale")
        expected += numbers + 4 * math.prod(scales["shape"]) if scales else 2 * numbers
    if bytes != expected or not any(name.endswith(".scale") for name in stored):
        sys.exit(f"moments have {bytes} bytes, expected {expected}")
    if bytes > 0.3 * wide_bytes:
        sys.exit(f"moments have {bytes} bytes, in f32 {wide_bytes}")


if __name__ == "__main__":
    main()
