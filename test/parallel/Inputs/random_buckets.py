#!/usr/bin/env python3
"""Random programs of ranks compute the same, in every bit, once comm-bucket has made
buckets of their collectives.

    random_buckets.py FIRST END     seeds FIRST to END - 1; prints the failures
    random_buckets.py --show SEED   prints the program of a seed and its passes

A program reduces gradients of random parameters in a random order, some in two steps,
some after others' results; numbers are reduced in between and scale what follows;
some parameters are updated at once, others in the end, and gathered.
"""

import random
import sys

import seeds

MESHES = [{"dp": 2}, {"dp": 3}, {"replica": 2, "shard": 2}, {"dp": 2, "tp": 2}]
MACHINE = "exec-set-machine{link=0.0001,0.1}"
SIZES = ["0", "0.00002", "0.00005", "0.0001", "inf"]


class Step:
    """A training step of one rank."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.mesh = self.random.choice(MESHES)
        self.axes = list(self.mesh)
        self.lines, self.count = [], 0
        self.sizes = [self.random.choice([1, 2, 4, 6, 12]) * self.ranks(self.axes)
                      for _ in range(self.random.randint(2, 8))]
        self.is_sharded = [self.random.random() < 0.4 for _ in self.sizes]
        self.numbers = [self.emit("arith.constant dense<0.5> : tensor<f32>")]
        self.pending, self.updated = [], {}
        order = list(range(len(self.sizes)))
        order.reverse()
        if self.random.random() < 0.5:
            self.random.shuffle(order)
        for parameter in order:
            for _ in range(self.random.randint(0, 2)):
                self.random.choice([self.number, self.number, self.update])()
            self.gradient(parameter)
        if self.random.random() < 0.5:
            self.norm()
        while self.pending:
            self.update()
        self.options = " ".join([f"bucket-mb={self.random.choice(SIZES + ['auto'])}",
                                 f"first-bucket-mb={self.random.choice(SIZES)}",
                                 f"per-unit={self.random.choice(['auto', 'true', 'false'])}"])

    def ranks(self, axes):
        count = 1
        for axis in axes:
            count *= self.mesh[axis]
        return count

    def emit(self, text):
        self.count += 1
        self.lines.append(f"  %{self.count} = {text}")
        return f"%{self.count}"

    def group(self):
        return self.axes if self.random.random() < 0.7 else [self.random.choice(self.axes)]

    def all_reduce(self, value, type_, axes, kind="sum"):
        return self.emit(f"comm.all_reduce {kind} {value} over @mesh {{{', '.join(axes)}}} : ({type_}) -> {type_}")

    def number(self):
        """A number of all ranks, of another one or of what a rank has."""
        value = self.random.choice(self.numbers + ["%loss"])
        value = self.emit(f"math.tanh {value} : tensor<f32>")
        self.numbers.append(self.all_reduce(value, "tensor<f32>", self.axes, self.random.choice(["sum", "sum", "max"])))

    def norm(self):
        """Of all gradients there are; scales those that are applied after it."""
        total = self.numbers[0]
        for _, gradient, size in self.pending:
            square = self.emit(f"arith.mulf {gradient}, {gradient} : tensor<{size}xf32>")
            square = self.emit(f"tg.reduce sum {square} dims [0] : tensor<{size}xf32> -> tensor<f32>")
            total = self.emit(f"arith.addf {total}, {square} : tensor<f32>")
        self.numbers = [self.all_reduce(total, "tensor<f32>", self.axes)]

    def scaled(self, value, size):
        number = self.random.choice(self.numbers)
        factor = self.emit(f"tg.broadcast {number} dims [] : tensor<f32> -> tensor<{size}xf32>")
        return self.emit(f"arith.mulf {value}, {factor} : tensor<{size}xf32>")

    def gradient(self, parameter):
        size, axes = self.sizes[parameter], self.group()
        value = self.emit(f"math.sin %x{parameter} : tensor<{size}xf32>")
        if self.random.random() < 0.3:
            value = self.scaled(value, size)
        same = [gradient for _, gradient, other in self.pending if other == size]
        if same and self.random.random() < 0.3:
            value = self.emit(f"arith.addf {value}, {self.random.choice(same)} : tensor<{size}xf32>")
        if self.is_sharded[parameter]:
            shard, rest = self.axes[-1:], self.axes[:-1]
            part = size // self.ranks(shard)
            value = self.emit(f"comm.reduce_scatter sum {value} dims [flat] over @mesh {{{shard[0]}}} : "
                              f"(tensor<{size}xf32>) -> tensor<{part}xf32>")
            if rest:
                value = self.all_reduce(value, f"tensor<{part}xf32>", rest)
            size = part
        else:
            value = self.all_reduce(value, f"tensor<{size}xf32>", self.axes)
        self.pending.append((parameter, value, size))

    def update(self):
        if not self.pending:
            return
        parameter, gradient, size = self.pending.pop(self.random.randrange(len(self.pending)))
        old, axes = f"%p{parameter}", self.axes[-1]
        if self.random.random() < 0.5:
            gradient = self.scaled(gradient, size)
        if self.is_sharded[parameter]:
            old = self.emit(f"comm.slice {old} dim flat over @mesh {{{axes}}} : tensor<{self.sizes[parameter]}xf32> -> "
                            f"tensor<{size}xf32>")
        new = self.emit(f"arith.subf {old}, {gradient} : tensor<{size}xf32>")
        if self.is_sharded[parameter]:
            new = self.emit(f"comm.all_gather {new} dims [flat] over @mesh {{{axes}}} : (tensor<{size}xf32>) -> "
                            f"tensor<{self.sizes[parameter]}xf32>")
        self.updated[parameter] = new

    def text(self):
        everywhere = ", ".join(self.axes)
        partial = f"comm.sharding = #comm.sharding<@mesh, {{}}, partial sum {{{everywhere}}}>"
        scalar = f"comm.sharding = #comm.sharding<@mesh, partial sum {{{everywhere}}}>"
        arguments = [f'%p{i}: tensor<{size}xf32> {{tg.param = #tg.param<"p{i}", #tg.init<ones>, unit = "{i // 3}">}}'
                     for i, size in enumerate(self.sizes)]
        arguments += [f'%x{i}: tensor<{size}xf32> {{tg.input = "x{i}", {partial}}}'
                      for i, size in enumerate(self.sizes)]
        arguments += [f'%loss: tensor<f32> {{tg.input = "loss", {scalar}}}']
        results = [(self.updated[i], f"tensor<{size}xf32>", f'tg.updates = "p{i}"')
                   for i, size in enumerate(self.sizes)]
        results += [(self.numbers[-1], "tensor<f32>", 'tg.output = "number"')]
        mesh = ", ".join(f"{name} = {size}" for name, size in self.mesh.items())
        newline = ",\n    "
        return (f"comm.mesh @mesh [{mesh}]\n\nfunc.func @f({newline.join(arguments)})\n    -> ("
                + newline.join(f"{type_} {{{attribute}}}" for _, type_, attribute in results)
                + ")\n    attributes {comm.program = #comm.program<@mesh>} {\n" + "\n".join(self.lines)
                + f"\n  return {', '.join(value for value, _, _ in results)} : "
                + ", ".join(type_ for _, type_, _ in results) + "\n}\n")


def commands(step):
    yield ["braid-interp", "-", "--compare", "--arithmetic=f64", "--rtol=0", "--atol=0",
           f"--pipeline={MACHINE},tg-derive-facts,func.func(comm-bucket{{{step.options}}}),comm-verify-order"]


def main():
    return seeds.main(Step, commands, counted="buckets", count=lambda run: run.stderr.count("bucket of"),
                      suffices=lambda buckets, _: buckets > 0)


if __name__ == "__main__":
    sys.exit(main())
