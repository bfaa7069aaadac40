"""Tensors of checkpoints (safetensors), read and written without any package."""

import array
import json
import math
import struct
import sys

# Suffix of the name of Adam's first mean, which after one step is the gradient times 1 - beta1.
FIRST_MEAN = ".exp_avg"
# And that of the velocity of SGD with momentum, which is the gradient.
FIRST_MEANS = (FIRST_MEAN, ".momentum_buffer")


def header_of(file):
    header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
    return {name: its for name, its in header.items() if name != "__metadata__"}


def shapes(folder):
    """The tensors of all files of a checkpoint by their names: type and shape."""
    found = {}
    for path in sorted(folder.glob("*.safetensors")):
        with open(path, "rb") as file:
            found.update({name: (its["dtype"], its["shape"]) for name, its in header_of(file).items()})
    return found


def first_means(folder):
    """Returns the first mean of each parameter, from all files of a folder; its values if the optimizer keeps no mean."""
    ends = ends_of(shapes(folder))
    found = {}
    for path in sorted(folder.glob("*.safetensors")):
        with open(path, "rb") as file:
            header, start = header_of(file), file.tell()
            for name, its in header.items():
                if name.endswith(ends) and its["dtype"] == "F32":
                    begin, end = its["data_offsets"]
                    file.seek(start + begin)
                    found[stem(name, ends)] = floats(file.read(end - begin))
    return found


def means_of(tensors):
    """The same of tensors by their names."""
    ends = ends_of(tensors)
    return {stem(name, ends): numbers for name, numbers in tensors.items() if name.endswith(ends)}


def ends_of(names):
    return FIRST_MEANS if any(name.endswith(FIRST_MEANS) for name in names) else ("",)


def stem(name, ends):
    return name.removesuffix(next(end for end in ends if name.endswith(end)))


def floats(data):
    values = array.array("f", data)
    if sys.byteorder == "big":
        values.byteswap()
    return values


def write(path, tensors):
    """A file of one-dimensional tensors."""
    header, end = {}, 0
    for name, values in tensors.items():
        header[name] = {"dtype": "F32", "shape": [len(values)], "data_offsets": [end, end + 4 * len(values)]}
        end += 4 * len(values)
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for values in tensors.values():
            if sys.byteorder == "big":
                values = array.array("f", values)
                values.byteswap()
            file.write(values.tobytes())


def farthest(ours, expected):
    """The element that differs most, in words."""
    at = max(range(len(expected)), key=lambda index: (ours[index] != ours[index], abs(ours[index] - expected[index])))
    return f"element {at} of {len(expected)} is {ours[at]:.7g}, {expected[at]:.7g} there"


def distance(ours, expected):
    """‖ours - expected‖₂ / ‖expected‖₂; infinite where the difference is not a number."""
    squares = math.fsum((a - b) ** 2 for a, b in zip(ours, expected, strict=True))
    norm = math.fsum(b * b for b in expected)
    if squares != squares:
        return math.inf
    return 0.0 if squares == 0 else math.sqrt(squares / norm) if norm else math.inf
