#!/usr/bin/env python3
"""split_weights.py FROM TO TYPE FILES: the weights of a folder as another program might have
stored them: of another type (F16, F32 or BF16), in so many files with an index, and without
what all names begin with.
"""

import json
import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "scripts"))
from equivalence.safetensors_file import read, write


def converted(data, to):
    """f32 as another type; weights here are exact in it, or what is compared is not."""
    numbers = struct.unpack(f"<{len(data) // 4}f", data)
    if to == "F16":
        return struct.pack(f"<{len(numbers)}e", *numbers)
    if to == "BF16":
        return b"".join(struct.pack("<f", number)[2:] for number in numbers)
    return data


def main():
    source, target, kind, files = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])
    tensors = {name.removeprefix("transformer."): (kind, shape, converted(data, kind))
               for path in sorted(source.glob("*.safetensors")) for name, (_, shape, data) in read(path).items()}
    target.mkdir()
    names, weight_map = list(tensors), {}
    for number in range(files):
        held = names[number::files]
        file = f"model-{number + 1:05}-of-{files:05}.safetensors"
        write(target / file, {name: tensors[name] for name in held})
        weight_map |= {name: file for name in held}
    (target / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": weight_map}))


main()
