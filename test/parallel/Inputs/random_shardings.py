#!/usr/bin/env python3
"""Partitions random graphs under random shardings on random meshes, and compares
what the ranks compute with one rank, by braid-interp.

    random_shardings.py FIRST END     seeds FIRST to END - 1; prints the failures
    random_shardings.py --show SEED   prints the graph of a seed and its passes

Annotations stand on arguments, results and values in between; their priorities
differ, so that none conflict.  Half of the graphs are differentiated first.
"""

import math
import os
import random
import sys

import seeds

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "equivalence", "Inputs"))
from random_graphs import Graph, tensor  # noqa: E402

MESHES = [{"a": 2}, {"a": 3}, {"a": 4}, {"a": 8}, {"a": 1}, {"a": 2, "b": 2}, {"a": 2, "b": 3}, {"a": 4, "b": 2},
          {"a": 1, "b": 4}, {"a": 2, "b": 2, "c": 2}]
ALGORITHMS = ["ring", "tree", "direct", "hierarchical"]
PLAIN = "comm-propagate,comm-insert-reshards,comm-verify-shardings,comm-partition,comm-verify-order"


class ShardedGraph(Graph):
    """A graph with the composites, annotated."""

    def __init__(self, seed):
        self.constrained = []
        self.random = random.Random(~seed)
        self.mesh = self.random.choice(MESHES)
        self.priority = 0
        super().__init__(seed)
        composites = [self.softmax, self.layer_norm, self.rms_norm, self.gather, self.scatter_add, self.attention,
                      self.dropout, self.uniform, self.cross_entropy, self.constrain, self.constrain]
        for _ in range(self.random.randint(2, 8)):
            self.random.choice(composites + [self.unary, self.binary, self.contract, self.reduce])()
        self.backward = self.random.random() < 0.5
        self.passes = self.random.choice([PLAIN, "comm-shard", "comm-shard", self.decomposed()])

    def decomposed(self):
        return f"comm-shard,func.func(comm-decompose{{algorithm={self.random.choice(ALGORITHMS)}}}),comm-verify-order"

    # Annotations.
    def axes_of(self, size, free):
        """Axes for a dim, taken from those that are free."""
        taken = []
        while free and self.random.random() < 0.6:
            axis = self.random.choice(free)
            count = math.prod(self.mesh[name] for name in taken + [axis])
            if size % count:
                break
            free.remove(axis)
            taken.append(axis)
        return taken

    def sharding(self, shape, partial):
        """A sharding of a tensor; `partial` allows partial values."""
        free = list(self.mesh)
        parts = ["@mesh"]
        partial_axes = [axis for axis in free if partial and self.random.random() < 0.2]
        free = [axis for axis in free if axis not in partial_axes]
        opened = self.random.random() < 0.2
        dims = []
        for size in shape:
            axes = self.axes_of(size, free)
            dims.append("{" + ", ".join(axes + (["?"] if opened else [])) + "}")
        if dims:
            parts.append(" ".join(dims))
        if partial_axes:
            kind = self.random.choice(["sum", "mean", "max", "min"])
            parts.append(f"partial {kind} {{{', '.join(partial_axes)}}}")
        if shape and free and not opened and self.random.random() < 0.3:
            parts.append(f"flat {{{self.random.choice(free)}}}")
        self.priority += 1
        return f"#comm.sharding<{', '.join(parts)}, priority {self.priority}>"

    def annotation(self, shape, partial=False, share=0.4):
        return f", comm.sharding = {self.sharding(shape, partial)}" if self.random.random() < share else ""

    def constrain(self):
        name, shape = self.pick()
        attribute = self.sharding(shape, False).removeprefix("#comm.sharding")
        self.emit(f"comm.constrain {name} {attribute} : {tensor(shape)}", shape)

    # Composites.
    def softmax(self):
        name, shape = self.pick(1)
        self.emit(f"tg.softmax {name} : {tensor(shape)}", shape)

    def weight(self, size):
        """Repeats a scalar: a norm's weight of any size."""
        name = f"%w{len(self.lines)}"
        self.lines.append(f"  {name} = arith.constant dense<1.5> : {tensor((size,))}")
        return name

    def layer_norm(self):
        name, shape = self.pick(1)
        w = self.weight(shape[-1])
        y, rows = f"%n{len(self.lines)}", tensor(shape[:-1])
        self.lines.append(f"  {y}, {y}m, {y}r = tg.layer_norm {name}, {w}, {w} eps 0.125 : ({tensor(shape)}, "
                          f"{tensor(shape[-1:])}, {tensor(shape[-1:])}) -> ({tensor(shape)}, {rows}, {rows})")
        self.values.append((y, shape))

    def rms_norm(self):
        name, shape = self.pick(1)
        w = self.weight(shape[-1])
        y = f"%n{len(self.lines)}"
        self.lines.append(f"  {y}, {y}r = tg.rms_norm {name}, {w} eps 0.125 : ({tensor(shape)}, "
                          f"{tensor(shape[-1:])}) -> ({tensor(shape)}, {tensor(shape[:-1])})")
        self.values.append((y, shape))

    def indices(self, shape, below):
        """Numbers below `below` that differ from place to place."""
        name = f"%j{len(self.lines)}"
        dim = self.random.randrange(len(shape))
        type_ = tensor(shape, "i32")
        self.lines += [f"  {name}i = tg.iota dim {dim} : {type_}",
                       f"  {name}k = arith.constant dense<5> : {type_}",
                       f"  {name}n = arith.constant dense<{below}> : {type_}",
                       f"  {name}m = arith.muli {name}i, {name}k : {type_}",
                       f"  {name} = arith.remsi {name}m, {name}n : {type_}"]
        return name, type_

    def gather(self):
        name, shape = self.pick(2)
        if len(shape) != 2:
            return
        to = self.random.choice([(4, 6), (8,), (2, 4), (1, 4)])
        indices, type_ = self.indices(to, shape[0])
        self.emit(f"tg.gather {name}, {indices} : ({tensor(shape)}, {type_}) -> {tensor(to + shape[1:])}", to + shape[1:])

    def scatter_add(self):
        name, shape = self.pick(2)
        rows = self.random.choice([1, 4, 8, 24])
        indices, type_ = self.indices(shape[:-1], rows)
        to = (rows, shape[-1])
        self.emit(f"tg.scatter_add {indices}, {name} : ({type_}, {tensor(shape)}) -> {tensor(to)}", to)

    def attention(self):
        fits = [value for value in self.values if len(value[1]) == 4]
        if not fits:
            return
        (q, shape), (k, other) = self.random.choice(fits), self.random.choice(fits)
        if shape[0] != other[0] or shape[3] != other[3] or shape[2] % other[2]:
            k, other = q, shape
        causal = "causal " if shape[1] == other[1] and self.random.random() < 0.5 else ""
        y, lse = f"%n{len(self.lines)}", (shape[0], shape[2], shape[1])
        self.lines.append(f"  {y}, {y}l = tg.attention {q}, {k}, {k} scale 0.5 {causal}: ({tensor(shape)}, "
                          f"{tensor(other)}, {tensor(other)}) -> ({tensor(shape)}, {tensor(lse)})")
        self.values.append((y, shape))

    def key(self):
        name = f"%key{len(self.lines)}"
        self.lines.append(f"  {name} = arith.constant dense<[1, 2, 3, 1]> : tensor<4xi32>")
        return name

    def dropout(self):
        name, shape = self.pick(1)
        self.emit(f"tg.dropout {name}, {self.key()} rate 0.5 stream {len(self.lines)} : "
                  f"({tensor(shape)}, tensor<4xi32>) -> {tensor(shape)}", shape)

    def uniform(self):
        _, shape = self.pick(1)
        self.emit(f"tg.random_uniform {self.key()} stream {len(self.lines)} : tensor<4xi32> -> {tensor(shape)}", shape)

    def cross_entropy(self):
        name, shape = self.pick(2)
        targets, type_ = self.indices(shape[:-1], shape[-1])
        y = f"%n{len(self.lines)}"
        kind = self.random.choice(["sum", "mean"])
        self.lines.append(f"  {y}, {y}l = tg.cross_entropy {kind} {name}, {targets} ignore 1 : ({tensor(shape)}, "
                          f"{type_}) -> (tensor<f32>, {tensor(shape[:-1])})")
        self.values += [(y, ()), (y + "l", shape[:-1])]

    def loss(self, values):
        """The mean of the tanh of each value, summed."""
        total = None
        for name, shape in values:
            self.emit(f"math.tanh {name} : {tensor(shape)}", shape)
            if shape:
                self.emit(f"tg.reduce mean {self.values[-1][0]} dims {list(range(len(shape)))} : "
                          f"{tensor(shape)} -> tensor<f32>", ())
            if total:
                self.emit(f"arith.addf {total}, {self.values[-1][0]} : tensor<f32>", ())
            total = self.values[-1][0]
        return total

    def text(self):
        made = self.values[len(self.arguments):]
        results = list(dict.fromkeys(self.random.sample(made, min(4, len(made))) + made[-1:]))
        roles = [f'tg.output = "r{i}"' for i in range(len(results))]
        if self.backward:
            results.append((self.loss(results), ()))
            roles.append('tg.role = #tg.role<loss>')
        gradient = ", tg.grad" if self.backward else ""
        arguments = ",\n    ".join(
            f'{name}: {tensor(shape)} {{tg.input = "{name[1:]}"{gradient}{self.annotation(shape, partial=True)}}}'
            for name, shape in self.arguments)
        types = ", ".join(f"{tensor(shape)} {{{role}{self.annotation(shape, share=0.3)}}}"
                          for (_, shape), role in zip(results, roles))
        names = ", ".join(name for name, _ in results)
        mesh = ", ".join(f"{name} = {size}" for name, size in self.mesh.items())
        return (f"comm.mesh @mesh [{mesh}]\n\nfunc.func @f({arguments})\n    -> ({types}) {{\n" + "\n".join(self.lines) +
                f"\n  return {names} : {', '.join(tensor(shape) for _, shape in results)}\n}}\n")


def commands(graph):
    before = "tg-differentiate" if graph.backward else ""
    passes = ",".join(filter(None, [before, graph.passes]))
    yield ["braid-interp", "-", "--compare", "--arithmetic=f64", "--rtol=1e-9", "--atol=1e-11",
           "--pipeline=" + passes] + (["--reference-pipeline=" + before] if before else [])


def main():
    return seeds.main(ShardedGraph, commands, "graphs")


if __name__ == "__main__":
    sys.exit(main())
