#!/usr/bin/env python3
"""same_tensors.py A B [ROUNDED...]

Compares two safetensors files: the same tensors, to the bit; those named ROUNDED are
f32 and equal within 1e-5 relative."""

import json
import struct
import sys


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    length = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + length])
    header.pop("__metadata__", None)
    return {name: (entry["dtype"], entry["shape"], data[8 + length + entry["data_offsets"][0]:8 + length + entry["data_offsets"][1]])
            for name, entry in header.items()}


def main():
    one, other = read(sys.argv[1]), read(sys.argv[2])
    if one.keys() != other.keys():
        sys.exit(f"only one has {sorted(one.keys() ^ other.keys())}")
    for name, (dtype, shape, data) in one.items():
        if name not in sys.argv[3:]:
            if (dtype, shape, data) != other[name]:
                sys.exit(f"{name} differs")
            continue
        count = len(data) // 4
        for a, b in zip(struct.unpack(f"<{count}f", data), struct.unpack(f"<{count}f", other[name][2])):
            if not abs(a - b) <= 1e-5 * abs(a):
                sys.exit(f"{name}: {a} and {b}")
    print(f"{len(one)} tensors agree")


if __name__ == "__main__":
    main()
