#!/usr/bin/env python3
"""same_moments.py A B TOLERANCE

Compares the moments in the newest checkpoints of two directories, each as numbers: they differ, in the norm of a
tensor, by less than TOLERANCE.  Moments are in f32, in bf16, or in codes with scales; A is one file, B one file or the
files of ranks with flat ranges of the tensors."""

import json
import math
import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "scripts"))
from equivalence.safetensors_file import read


def numbers(dtype, data):
    if dtype == "BF16":
        return [struct.unpack("<f", b"\0\0" + data[i:i + 2])[0] for i in range(0, len(data), 2)]
    return struct.unpack(f"<{len(data) // {'F32': 4, 'I8': 1}[dtype]}{'f' if dtype == 'F32' else 'b'}", data)


def tensors(directory):
    """{name: (shape, numbers)} of optimizer state."""
    newest = max(pathlib.Path(directory).glob("step-*"))
    parts = {}
    for path in sorted(newest.glob("rank-*")) if newest.is_dir() else [newest]:
        for name, (dtype, shape, data) in read(path).items():
            if ".exp_avg" in name:
                parts.setdefault(name, (dtype, shape, []))[2].extend(numbers(dtype, data))
    whole = json.loads((newest / "index.json").read_text())["tensors"] if newest.is_dir() else {}
    found = {}
    for name, (dtype, shape, values) in parts.items():
        entry = whole.get(name, {"shape": shape})
        found[name] = (dtype, entry["shape"], in_order(values, entry["shape"], entry.get("order", [])))
    return found


def in_order(values, shape, order):
    """Row-major, of a matrix whose ranges may be of its columns."""
    if order != [1, 0]:
        return values
    rows, columns = shape
    return [values[column * rows + row] for row in range(rows) for column in range(columns)]


def moments(directory):
    stored, found = tensors(directory), {}
    for name, (dtype, shape, values) in stored.items():
        if name.endswith(".scale"):
            continue
        if dtype != "I8":
            found[name] = values
            continue
        _, scale_shape, scales = stored[name + ".scale"]
        dim = next(i for i, (a, b) in enumerate(zip(shape, scale_shape)) if a != b)
        block, inner = shape[dim] // scale_shape[dim], math.prod(shape[dim + 1:])
        found[name] = [math.copysign(code ** 4, code) * scales[i // (inner * block) * inner + i % inner]
                       for i, code in enumerate(values)]
    return found


def main():
    one, other = moments(sys.argv[1]), moments(sys.argv[2])
    if one.keys() != other.keys() or not one:
        sys.exit(f"only one has {sorted(one.keys() ^ other.keys())}")
    for name, values in one.items():
        error = math.dist(values, other[name]) / max(math.hypot(*values), 1e-30)
        if not error < float(sys.argv[3]):
            sys.exit(f"{name} differs by {error}")
    print(f"{len(one)} moments agree")


if __name__ == "__main__":
    main()
