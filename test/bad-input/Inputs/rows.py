#!/usr/bin/env python3
"""rows.py FILE [TENSOR ROW VALUE]...

Writes 40 rows for lookup.mlir as a safetensors file, and weights.safetensors beside it for
its --init; the first number of a row of a tensor may be set to another value."""

import array
import json
import pathlib
import sys

ROWS = 40
TENSORS = {"x": ("F32", [ROWS, 6], [i % 7 / 7 for i in range(6 * ROWS)]),
           "kind": ("I32", [ROWS], [i % 7 for i in range(ROWS)]),
           "labels": ("I32", [ROWS], [i % 5 for i in range(ROWS)])}
WEIGHTS = {"table": ("F32", [7, 6], [0.1] * 42), "w": ("F32", [5, 6], [i % 3 / 3 for i in range(30)])}


def write(path, tensors):
    header, data = {}, b""
    for name, (kind, shape, values) in tensors.items():
        part = array.array("f" if kind == "F32" else "i", values).tobytes()
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [len(data), len(data) + len(part)]}
        data += part
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


def main():
    path = pathlib.Path(sys.argv[1])
    for name, row, value in zip(*(iter(sys.argv[2:]),) * 3):
        kind, shape, values = (TENSORS if name in TENSORS else WEIGHTS)[name]
        values[int(row) * (len(values) // shape[0])] = float(value) if kind == "F32" else int(value)
    write(path, TENSORS)
    write(path.parent / "weights.safetensors", WEIGHTS)


if __name__ == "__main__":
    main()
