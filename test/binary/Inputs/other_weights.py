#!/usr/bin/env python3
"""other_weights.py FROM TO CHANGE...: a folder's model.safetensors and config.json with other tensors.

  strip PREFIX       names lose it
  rename NAME NAME   a tensor is called otherwise
  copy NAME NAME     and is there under both names
  spoil NAME         its first byte is another one
  drop NAME
  add NAME TYPE SHAPE   zeros; SHAPE is 2,3 or - for a single number
"""

import math
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "scripts"))
from equivalence.safetensors_file import SIZES, read, write


def strip(tensors, prefix):
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items()}


def rename(tensors, old, new):
    return {new if name == old else name: tensor for name, tensor in tensors.items()}


def copy(tensors, old, new):
    return tensors | {new: tensors[old]}


def spoil(tensors, name):
    dtype, shape, data = tensors[name]
    return tensors | {name: (dtype, shape, bytes([data[0] ^ 1]) + data[1:])}


def drop(tensors, name):
    return {other: tensor for other, tensor in tensors.items() if other != name}


def add(tensors, name, dtype, shape):
    shape = [] if shape == "-" else [int(extent) for extent in shape.split(",")]
    return tensors | {name: (dtype, shape, bytes(math.prod(shape) * SIZES[dtype]))}


def main():
    source, target, words = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3:]
    tensors = read(source / "model.safetensors")
    while words:
        change = globals()[words.pop(0)]
        count = change.__code__.co_argcount - 1
        tensors, words = change(tensors, *words[:count]), words[count:]
    target.mkdir()
    write(target / "model.safetensors", tensors)
    shutil.copy(source / "config.json", target)


main()
