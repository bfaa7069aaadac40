#!/usr/bin/env python3
"""Writes random programs of ranks: chains of collectives, slices and sums on one mesh.

Every result is given as the ranks hold it, stacked along a dim, so two programs
agree only if every rank has the same in both.  The seed is in the functions' names.
"""

import argparse
import math
import random

MESHES = [{"dp": 2, "tp": 2}, {"dp": 2, "tp": 3}, {"dp": 2, "one": 1, "tp": 2}, {"pp": 2, "dp": 2, "tp": 2}, {"dp": 4}]


class Program:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.name = f"seed_{seed}"
        self.mesh = self.random.choice(MESHES)
        self.symbol = f"@mesh{MESHES.index(self.mesh)}"
        self.element = self.random.choice(["f32", "i32"])
        self.kinds = ["sum", "max", "min"] + (["mean"] if self.element == "f32" else [])
        self.values, self.lines, self.arguments = [], [], []

    def type(self, shape):
        return f"tensor<{''.join(f'{size}x' for size in shape)}{self.element}>"

    def axes(self):
        names = list(self.mesh)
        return self.random.sample(names, self.random.randint(1, len(names)))

    def over(self, axes):
        return f"over {self.symbol} {{{', '.join(axes)}}}"

    def count(self, axes):
        return math.prod(self.mesh[axis] for axis in axes)

    def add(self, text, shape, result_type=None):
        name = f"%{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        self.values.append((name, tuple(shape)))

    def argument(self, shape):
        """Replicated, in blocks along a dim, or with partial values."""
        axes = self.axes()
        lists, whole, partial = ["{}"] * len(shape), list(shape), ""
        kind = self.random.choice(["replicated", "blocks", "partial"])
        if kind == "blocks":
            dim = self.random.randrange(len(shape))
            lists[dim] = f"{{{', '.join(axes)}}}"
            whole[dim] *= self.count(axes)
        if kind == "partial":
            partial = f", partial sum {{{', '.join(axes)}}}"
        name = f"%arg{len(self.arguments)}"
        self.arguments.append(f"{name}: {self.type(shape)} {{comm.sharding = #comm.sharding<{self.symbol}, "
                              f"{' '.join(lists)}{partial}>, comm.global = {self.type(whole)}}}")
        self.values.append((name, tuple(shape)))

    def step(self):
        # Recent values are read more often, so that chains are long.
        name, shape = self.values[-1] if self.random.random() < 0.7 else self.random.choice(self.values)
        axes = self.axes()
        n, over, type_ = self.count(axes), self.over(axes), self.type(shape)
        dim = self.random.randrange(len(shape))
        divides = shape[dim] % n == 0
        block = shape[:dim] + (shape[dim] // n,) + shape[dim + 1:]
        whole = shape[:dim] + (shape[dim] * n,) + shape[dim + 1:]
        elements = math.prod(shape)
        kind = self.random.choice(self.kinds)
        op = self.random.choice(["all_reduce", "all_gather", "reduce_scatter", "slice", "slice", "all_to_all", "sum",
                                 "sum", "flat_slice", "flat_scatter", "flat_gather", "permute", "broadcast", "index"])
        if op == "all_reduce":
            self.add(f"comm.all_reduce {kind} {name} {over} : ({type_}) -> {type_}", shape)
        elif op == "all_gather" and elements * n <= 600:
            self.add(f"comm.all_gather {name} dims [{dim}] {over} : ({type_}) -> {self.type(whole)}", whole)
        elif op == "reduce_scatter" and divides:
            self.add(f"comm.reduce_scatter {kind} {name} dims [{dim}] {over} : ({type_}) -> {self.type(block)}", block)
        elif op == "slice" and divides:
            shift = f" shift {self.random.randrange(n)}" if self.random.random() < 0.2 else ""
            self.add(f"comm.slice {name} dim {dim}{shift} {over} : {type_} -> {self.type(block)}", block)
        elif op == "all_to_all" and divides:
            to = self.random.randrange(len(shape))
            result = tuple(size * n if i == to else size for i, size in enumerate(block))
            self.add(f"comm.all_to_all {name} split [{dim}] concat [{to}] {over} : ({type_}) -> {self.type(result)}",
                     result)
        elif op == "sum":
            other = self.random.choice([value for value, other in self.values if other == shape])
            sign = self.random.choice(["add", "sub"])
            self.add(f"arith.{sign}{self.element[0]} {name}, {other} : {type_}", shape)
        elif op == "flat_slice":
            flat = (-(-elements // n),)
            self.add(f"comm.slice {name} dim flat {over} : {type_} -> {self.type(flat)}", flat)
        elif op == "flat_scatter":
            flat = (-(-elements // n),)
            self.add(f"comm.reduce_scatter {kind} {name} dims [flat] {over} : ({type_}) -> {self.type(flat)}", flat)
        elif op == "flat_gather" and len(shape) == 1 and elements * n <= 600:
            # Values that can have flat ranges of this size.
            shapes = [s for _, s in self.values if -(-math.prod(s) // n) == elements] or [(elements * n,)]
            result = self.random.choice(shapes)
            self.add(f"comm.all_gather {name} dims [flat] {over} : ({type_}) -> {self.type(result)}", result)
        elif op == "permute":
            targets = self.random.sample(range(n), n)
            pairs = [f"{i} -> {j}" for i, j in enumerate(targets) if self.random.random() < 0.8]
            self.add(f"comm.permute {name} pairs [{', '.join(pairs)}] {over} : ({type_}) -> {type_}", shape)
        elif op == "broadcast":
            self.add(f"comm.broadcast {name} root {self.random.randrange(n)} {over} : ({type_}) -> {type_}", shape)
        elif op == "index" and self.element == "i32":
            self.lines.append(f"%i{len(self.lines)} = comm.axis_index {over} : tensor<i32>")
            index = self.lines[-1].split()[0]
            self.add(f"tg.broadcast {index} dims [] : tensor<i32> -> {type_}", shape)

    def write(self, steps):
        for _ in range(3):
            self.argument(self.random.choice([(12,), (4, 6), (6, 4), (2, 3, 4), (7,), (8,), (1,), (1, 6), (4, 1, 3)]))
        while len(self.lines) < steps:
            self.step()
        results = [value for value in self.values if value[0].startswith("%arg") is False][-3:]
        names = ", ".join(self.mesh)
        types = []
        for _, shape in results:
            whole = (shape[0] * self.count(self.mesh),) + shape[1:]
            lists = " ".join([f"{{{names}}}"] + ["{}"] * (len(shape) - 1))
            types.append(f"{self.type(shape)} {{comm.sharding = #comm.sharding<{self.symbol}, {lists}>, "
                         f"comm.global = {self.type(whole)}}}")
        print(f"func.func @{self.name}({', '.join(self.arguments)}) -> ({', '.join(types)})")
        print(f"    attributes {{comm.program = #comm.program<{self.symbol}>}} {{")
        for line in self.lines:
            print(" ", line)
        print(f"  return {', '.join(name for name, _ in results)} : {', '.join(self.type(shape) for _, shape in results)}")
        print("}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--count", type=int, default=100, help="how many seeds")
    parser.add_argument("--steps", type=int, default=14, help="ops in a program")
    options = parser.parse_args()
    for number, mesh in enumerate(MESHES):
        print(f"comm.mesh @mesh{number} [{', '.join(f'{axis} = {size}' for axis, size in mesh.items())}]")
    for seed in range(options.first, options.first + options.count):
        Program(seed).write(options.steps)


if __name__ == "__main__":
    main()
