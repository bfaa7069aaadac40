"""Tensors of a safetensors file, and tokens of a binary file, as numpy arrays: for the peers of bench/train."""

import json
import struct

import numpy


def read_tensors(path):
    """Returns the f32 tensors by name."""
    with open(path, "rb") as file:
        size, = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(size))
        data = file.read()
    return {name: numpy.frombuffer(data[slice(*its["data_offsets"])], "<f4").reshape(its["shape"]).copy()
            for name, its in header.items() if name != "__metadata__" and its["dtype"] == "F32"}


class Batches:
    """Yields the batches of a job in order: tokens and targets, or rows and labels."""

    def __init__(self, job):
        self.batch, self.seq = job["batch"], job["seq"]
        if job["kind"] == "mlp":
            rows = read_tensors(job["data"])
            self.inputs, self.targets = rows["x"], rows["t"]
        else:
            tokens = numpy.fromfile(job["data"], "<u2", offset=64).astype(numpy.int64)
            windows = (len(tokens) - 1) // self.seq
            self.inputs = tokens[:windows * self.seq].reshape(windows, self.seq)
            self.targets = tokens[1:windows * self.seq + 1].reshape(windows, self.seq)

    def __call__(self, step, rank=0, ranks=1):
        each = self.batch // ranks
        first = step * self.batch + rank * each
        return self.inputs[first:first + each], self.targets[first:first + each]
