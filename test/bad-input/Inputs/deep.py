#!/usr/bin/env python3
"""Files that nest too deeply.

usage: deep.py FOLDER
"""

import pathlib
import sys

LEVELS = 100_000


def nested(opening, inside, closing):
    return opening * LEVELS + inside + closing * LEVELS


def main():
    folder = pathlib.Path(sys.argv[1])
    header = ('{"a": ' + nested("[", "", "]") + "}").encode()
    files = {
        "deep.mlir": "module attributes {a.b = " + nested("[", "", "]") + "} {}\n",
        "regions.mlir": nested("module {\n", "", "}"),
        "types.mlir": "module attributes {a.b = " + nested("tuple<", "f32", ">") + "} {}\n",
        "locations.mlir": "module {} loc(" + nested("fused[", "unknown", "]") + ")\n",
        "digits.mlir": "module attributes {a.b = " + "1" * 100000 + "} {}\n",
        "deep.json": '{"model_type": ' + nested("[", "", "]") + "}\n",
        "deep.layout": "layers.0.weight: " + nested("{", "", "}") + "\n",
    }
    for name, text in files.items():
        (folder / name).write_text(text)
    (folder / "deep.safetensors").write_bytes(len(header).to_bytes(8, "little") + header)


if __name__ == "__main__":
    main()
