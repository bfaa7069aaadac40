"""Data for a graph's inputs: the interpreter draws them, and some targets do not count.

A third of the targets is masked, and in a second step all of the first row, so that a microbatch has none.
"""

import array
import math
import random
import re
import struct

from . import safetensors_file
from .command import Refusal
from .differences import peaked

INPUT = re.compile(r'tensor<([\dx]*?)x?(?:[if]\d+|bf16)>\s*(\{[^{}]*?tg\.input = "([^"]+)"[^{}]*\})')
ROLE = re.compile(r"tg\.role = #tg\.role<(\w+)>")
PARAMETER = re.compile(r'tensor<([\dx]*?)x?f32>\s*\{[^{}]*?#tg\.param<"([^"]+)", '
                       r"#tg\.init<(\w+)(?:, ([-+.\deE]+))?(?:, ([-+.\deE]+))?")
IGNORED = re.compile(r"tg\.cross_entropy\b.*?\bignore (-?\d+)")


class Inputs:
    """Returns names, shapes and roles of a graph's inputs, and the target that its loss ignores."""

    def __init__(self, graph):
        self.slots = {name: ([int(size) for size in shape.split("x") if size], (ROLE.findall(attributes) or [""])[0])
                      for shape, attributes, name in INPUT.findall(graph)}
        ignored = IGNORED.search(graph)
        self.ignored = int(ignored[1]) if ignored else None
        self.is_packed = "documents" in self.slots

    def of_role(self, *roles):
        return [name for name, (_, role) in self.slots.items() if role in roles]

    @property
    def tokens(self):
        """The shape of tokens, rows by positions; None for models without."""
        names = self.of_role("tokens")
        return self.slots[names[0]][0] if names else None


def value_of(kind, a, b, draw):
    if kind == "normal":
        return draw.gauss(a, b)
    return draw.uniform(a, b) if kind == "uniform" else {"zeros": 0.0, "ones": 1.0, "constant": a}[kind]


def weights(path, graph, seed):
    """Writes initial values of a graph's parameters, whose attention is peaked, and returns them by name. A tensor of
    all experts becomes one tensor for each expert in the file."""
    draw, start, tensors, parameters = random.Random(seed), {}, {}, PARAMETER.findall(peaked(graph)[0])
    if not parameters or len(parameters) != graph.count("#tg.param<"):
        raise Refusal(f"the graph has {graph.count('#tg.param<')} parameters, of which {len(parameters)} are read: "
                      "write each as 'tensor<...xf32> {tg.param = #tg.param<...>}'")
    for dims, name, kind, a, b in parameters:
        shape = [int(size) for size in dims.split("x") if size]
        count, a, b = math.prod(shape), float(a or 0), float(b or 0)
        start[name] = array.array("f", (value_of(kind, a, b, draw) for _ in range(count)))
        parts = shape[0] if "*" in name else 1
        each = len(start[name]) // parts
        for number in range(parts):
            values = start[name][number * each:(number + 1) * each]
            tensors[name.replace("*", str(number))] = "F32", shape[1:] if "*" in name else shape, values.tobytes()
    safetensors_file.write(path, tensors)
    return start


def counted(rows, positions, batch, draw):
    """Returns for each target whether it counts."""
    return [[row != batch and (draw.random() > 0.3 or (row, at) == (0, 0)) for at in range(positions)]
            for row in range(rows)]


def write_tokens(path, ids, counts, starts):
    """A token file with a mask and documents (docs/Data.md)."""
    flags, vocabulary = int(counts is not None), max(ids) + 1
    file = struct.pack("<8sIIQQQQIIQ", b"BRAIDTOK", 2, 4, len(ids), vocabulary, len(starts), 0, flags, 0xffffffff, 0)
    file += array.array("I", ids).tobytes()
    if counts is not None:
        bits = [sum(bit << at for at, bit in enumerate(counts[first:first + 8])) for first in range(0, len(counts), 8)]
        file += bytes(-len(file) % 8) + bytes(bits)
    if starts:
        file += bytes(-len(file) % 8) + struct.pack(f"<{len(starts)}Q", *starts)
    path.write_bytes(file)


def token_file(path, inputs, drawn, seed, untargeted):
    """Returns the tokens of all drawn batches, one after the other."""
    draw = random.Random(seed)
    name, = inputs.of_role("tokens")
    ids = array.array("i", b"".join(tensors[name][2] for tensors in drawn)).tolist()
    batch, positions = inputs.tokens
    counts = None
    if inputs.ignored is not None:
        rows = counted(len(ids) // positions, positions, batch, draw)
        # A window's first target is its second token.
        counts = [0] + [int(bit and not untargeted) for row in rows for bit in row][:len(ids) - 1]
    starts = [0]
    while inputs.is_packed and starts[-1] + positions < len(ids):
        starts.append(starts[-1] + draw.randint(1, positions))
    write_tokens(path, ids, counts, starts if inputs.is_packed else [])


def masked(inputs, name, parts, draw, untargeted):
    """Returns the type, shape and rows that were drawn for an input, with masked targets."""
    (shape, role), (dtype, _, _), data = inputs.slots[name], parts[0], b"".join(part[2] for part in parts)
    if dtype == "I32" and role in ("labels", "targets") and inputs.ignored is not None:
        values = array.array("i", data)
        each = math.prod(shape[1:])
        rows = counted(len(values) // each, each, shape[0], draw)
        counts = [bit and not untargeted for row in rows for bit in row]
        data = array.array("i", (value if bit else inputs.ignored for value, bit in zip(values, counts))).tobytes()
    return dtype, [len(parts) * shape[0], *shape[1:]], data


def documents_of(inputs, draw):
    """Returns the document of each position of a row, the position in it, and whether a next token exists."""
    batch, positions = inputs.tokens
    documents, places, present = [], [], []
    for _ in range(batch):
        number, place = 0, 0
        for at in range(positions):
            ends = at + 1 == positions or draw.random() < 0.3
            documents.append(number)
            places.append(place)
            present.append(-1 if ends and inputs.is_packed else number)
            number, place = (number + 1, 0) if ends else (number, place + 1)
    present = present if inputs.is_packed else [0] * len(present)
    values = {"documents": documents, "positions": places, "present": present}
    return {name: ("I32", [batch, positions], array.array("i", row).tobytes()) for name, row in values.items()}


def batch(path, inputs, drawn, seed, untargeted=False):
    """A file with the inputs of one batch."""
    draw = random.Random(seed)
    tensors = {name: masked(inputs, name, [drawn[name]], draw, untargeted)
               for name in inputs.of_role("tokens", "targets", "features", "labels")}
    if inputs.tokens:
        tensors.update({name: tensor for name, tensor in documents_of(inputs, draw).items() if name in tensors})
    safetensors_file.write(path, tensors)


def text(inputs, first, drawn):
    """Returns the first row of tokens from a position on, as one document."""
    name, = inputs.of_role("tokens")
    end = inputs.tokens[1]
    values = {name: array.array("i", drawn[name][2])[first:end], "documents": [0] * end, "positions": range(end),
              "present": [0] * end}
    return {name: ("I32", [1, len(row)], array.array("i", row).tobytes()) for name, row in values.items()}


def rows(path, inputs, drawn, seed, untargeted=False):
    """Writes a file for `--data` with all drawn batches."""
    if inputs.tokens:
        return token_file(path, inputs, drawn, seed, untargeted)
    draw = random.Random(seed)
    parts = {name: [tensors[name] for tensors in drawn] for name in inputs.of_role("features", "labels", "targets")}
    return safetensors_file.write(path, {name: masked(inputs, name, of_name, draw, untargeted)
                                         for name, of_name in parts.items()})
