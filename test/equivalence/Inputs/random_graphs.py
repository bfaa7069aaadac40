#!/usr/bin/env python3
"""Lowers random graphs of primitives and compares with the graph, by braid-interp.

    random_graphs.py FIRST END [memory]     seeds FIRST to END - 1; prints the failures

On values and in memory, or in memory alone.

Graphs mix the shapes that lowering finds hard: dims of size 1, reshapes that split a
space in two ways, transposed and strided views, einsums in any order, halves that are turned.
In half of the graphs every size is 1 in some, so that any dim may have one element.  A seed
that fails can be run alone; the graph is printed.
"""

import math
import random
import subprocess
import sys

VALUES = ("func.func(exec-chunk-sums,exec-select-calls,exec-form-kernels,exec-fuse-kernels,exec-fuse-gathers,exec-recompute-operands),"
          "exec-gather-kernels,exec-verify-values")
MEMORY = VALUES + ",exec-plan-memory,exec-outline-kernels,exec-batch-launches,exec-verify-plan,exec-verify-memory"


class Sizes:
    """Shapes whose dims are products of a few sizes, so that reshapes fit."""

    def __init__(self, a=2, b=2, c=3, d=2, e=8):
        p, q = a * b, c * d
        self.shapes = [(p, q, e), (p * q, e), (p * q * e,), (a, b * q, e), (p, q * e), (p, c, d, e), (q, e), (q * e,),
                       (e, p), (p, e), (1, q, e), (q, 1, e), (p, q), (p * q,), (a, b, q), (e,)]
        self.inputs = [(p, q, e), (p * q, e), (e,), (p, q), (1, q, e)]
        self.wide = [(p, q, e), (p * q, e), (p, q), (e, p)]


def tensor(shape, element="f32"):
    return "tensor<" + "".join(f"{size}x" for size in shape) + element + ">"


class Graph:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.values, self.lines = [], []  # values: (name, shape)
        ones = random.Random(f"ones {seed}")  # leaves the other draws of a seed alone
        self.sizes = Sizes(*(ones.choice([1, size]) for size in (2, 2, 3, 2, 8))) if ones.random() < 0.5 else Sizes()
        inputs = self.random.choices(self.sizes.inputs, k=4) + [self.sizes.inputs[0], ()]
        self.arguments = [(f"%a{i}", shape) for i, shape in enumerate(inputs)]
        self.values += self.arguments
        kinds = [self.unary] + 3 * [self.binary] + 2 * [self.reduce] + 2 * [self.broadcast] + 2 * [self.reshape] + \
            [self.transpose] + 2 * [self.slice] + [self.concat, self.pad, self.contract, self.iota, self.turn]
        for _ in range(self.random.randint(8, 30)):
            self.random.choice(kinds)()

    def emit(self, text, shape):
        name = f"%v{len(self.lines)}"
        self.lines.append(f"  {name} = {text}")
        self.values.append((name, shape))

    def pick(self, least_rank=0):
        """A recent value; the first argument has the highest rank, so there always is one."""
        fits = [value for value in self.values if len(value[1]) >= least_rank]
        return self.random.choice(fits[-8:])

    def unary(self):
        name, shape = self.pick()
        self.emit(f"math.tanh {name} : {tensor(shape)}", shape)

    def binary(self):
        name, shape = self.pick()
        other, _ = self.random.choice([value for value in self.values if value[1] == shape])
        op = self.random.choice(["addf", "subf", "mulf", "maximumf"])
        self.emit(f"arith.{op} {name}, {other} : {tensor(shape)}", shape)

    def reduce(self):
        name, shape = self.pick(1)
        dims = sorted(self.random.sample(range(len(shape)), self.random.randint(1, len(shape))))
        kept = tuple(size for dim, size in enumerate(shape) if dim not in dims)
        kind = self.random.choice(["sum", "mean", "max"])
        self.emit(f"tg.reduce {kind} {name} dims {dims} : {tensor(shape)} -> {tensor(kept)}", kept)

    def broadcast(self):
        name, shape = self.pick()
        to = self.random.choice(self.sizes.wide)
        dims, next_dim = [], 0
        for size in shape:
            while next_dim < len(to) and size not in (1, to[next_dim]):
                next_dim += 1
            if next_dim == len(to):
                return
            dims.append(next_dim)
            next_dim += 1
        self.emit(f"tg.broadcast {name} dims {dims} : {tensor(shape)} -> {tensor(to)}", to)

    def reshape(self):
        name, shape = self.pick(1)
        fits = [to for to in self.sizes.shapes if math.prod(to) == math.prod(shape)]
        if fits:
            to = self.random.choice(fits)
            self.emit(f"tg.reshape {name} : {tensor(shape)} -> {tensor(to)}", to)

    def transpose(self):
        name, shape = self.pick(2)
        order = self.random.sample(range(len(shape)), len(shape))
        to = tuple(shape[dim] for dim in order)
        self.emit(f"tg.transpose {name} {order} : {tensor(shape)} -> {tensor(to)}", to)

    def slice(self):
        name, shape = self.pick(1)
        dim = self.random.randrange(len(shape))
        size = max(1, shape[dim] // 2)
        stride = self.random.choice([1, 2]) if 2 * size <= shape[dim] else 1
        offset = 0 if stride == 2 else self.random.randint(0, shape[dim] - size)
        to = shape[:dim] + (size,) + shape[dim + 1:]
        self.emit(f"tg.slice {name} dim {dim} offset {offset} size {size} stride {stride} : "
                  f"{tensor(shape)} -> {tensor(to)}", to)

    def concat(self):
        name, shape = self.pick(1)
        other, _ = self.random.choice([value for value in self.values if value[1] == shape])
        dim = self.random.randrange(len(shape))
        to = shape[:dim] + (2 * shape[dim],) + shape[dim + 1:]
        if to[dim] <= 64:
            self.emit(f"tg.concat {name}, {other} dim {dim} : ({tensor(shape)}, {tensor(shape)}) -> {tensor(to)}", to)

    def pad(self):
        name, shape = self.pick(1)
        dim = self.random.randrange(len(shape))
        to = shape[:dim] + (shape[dim] + 3,) + shape[dim + 1:]
        self.emit(f"tg.pad {name} dim {dim} low 1 high 2 value 0.0 : {tensor(shape)} -> {tensor(to)}", to)

    def contract(self):
        (lhs, left), (rhs, right) = self.pick(1), self.pick(1)
        if len(left) > 3 or len(right) > 3:
            return
        left_dims, right_dims = "abc"[:len(left)], ""
        sizes = dict(zip(left_dims, left))
        for index, size in enumerate(right):
            same = [dim for dim in left_dims if sizes[dim] == size and dim not in right_dims]
            right_dims += self.random.choice(same) if same and self.random.random() < 0.8 else "xyz"[index]
        sizes.update(zip(right_dims, right))
        dims = [d for d in left_dims if d not in right_dims] + [d for d in right_dims if d not in left_dims] + \
            [d for d in left_dims if d in right_dims and self.random.random() < 0.4]
        self.random.shuffle(dims)
        to = tuple(sizes[dim] for dim in dims)
        if math.prod(to) <= 3000:
            self.emit(f'tg.contract "{left_dims},{right_dims}->{"".join(dims)}" {lhs}, {rhs} : '
                      f"({tensor(left)}, {tensor(right)}) -> {tensor(to)}", to)

    def turn(self):
        """Halves of two tensors, put together to two others, as rotary positions do with queries and keys."""
        name, shape = self.pick(1)
        if not any(size % 2 == 0 for size in shape):
            return
        dim = self.random.choice([dim for dim, size in enumerate(shape) if size % 2 == 0])
        half = shape[dim] // 2
        part = shape[:dim] + (half,) + shape[dim + 1:]
        line = len(self.lines)
        for number, whole in enumerate([name, self.random.choice([v for v in self.values if v[1] == shape])[0]]):
            if self.random.random() < 0.7:  # a tensor of its own, that can be overwritten
                self.emit(f"arith.negf {whole} : {tensor(shape)}", shape)
                whole = self.values[-1][0]
            for side in range(2):
                self.lines.append(f"  %h{line}_{number}{side} = tg.slice {whole} dim {dim} offset {side * half} "
                                  f"size {half} : {tensor(shape)} -> {tensor(part)}")
        mixed = [(f"%h{line}_{self.random.randint(0, 1)}{a}", f"%h{line}_{number}{b}")
                 for number in range(2) for a, b in ((0, 1), (1, 0))]
        for number, (left, right) in enumerate(mixed):
            self.lines.append(f"  %t{line}_{number} = arith.{self.random.choice(['subf', 'mulf', 'addf'])} {left}, {right} : "
                              f"{tensor(part)}")
        for number in (0, 2):
            self.emit(f"tg.concat %t{line}_{number}, %t{line}_{number + 1} dim {dim} : ({tensor(part)}, {tensor(part)}) -> "
                      f"{tensor(shape)}", shape)

    def iota(self):
        _, shape = self.pick(1)
        name = f"%i{len(self.lines)}"
        self.lines.append(f"  {name} = tg.iota dim {self.random.randrange(len(shape))} : {tensor(shape, 'i32')}")
        self.emit(f"tg.convert {name} : {tensor(shape, 'i32')} -> {tensor(shape)}", shape)

    def text(self):
        made = self.values[len(self.arguments):]
        results = list(dict.fromkeys(self.random.sample(made, min(4, len(made))) + made[-1:]))
        arguments = ", ".join(f'{name}: {tensor(shape)} {{tg.input = "{name[1:]}"}}' for name, shape in self.arguments)
        types = ", ".join(f'{tensor(shape)} {{tg.output = "r{i}"}}' for i, (_, shape) in enumerate(results))
        names = ", ".join(name for name, _ in results)
        return (f"func.func @f({arguments}) -> ({types}) {{\n" + "\n".join(self.lines) +
                f"\n  return {names} : {', '.join(tensor(shape) for _, shape in results)}\n}}\n")


def differences(texts, pipeline):
    """Returns the difference after the passes, "" if there is none."""
    run = subprocess.run(["braid-interp", "-", "--compare", "--arithmetic=f64", "--rtol=1e-4", "--atol=1e-5",
                          "--pipeline=" + pipeline], input="".join(texts), capture_output=True, text=True)
    agree = run.returncode == 0 and run.stdout.count("agree") == len(texts)
    return "" if agree else run.stdout + run.stderr or "no result"


def main():
    failures = 0
    first, end = int(sys.argv[1]), int(sys.argv[2])
    pipelines = [MEMORY] if sys.argv[3:] == ["memory"] else [VALUES, MEMORY]
    for begin in range(first, end, 20):  # many in one process; where one fails, each by itself
        texts = [Graph(seed).text().replace("@f(", f"@f{seed}(") for seed in range(begin, min(begin + 20, end))]
        if not any(differences(texts, pipeline) for pipeline in pipelines):
            continue
        before = failures
        for seed, text in enumerate(texts, begin):
            found = next(filter(None, (differences([text], pipeline) for pipeline in pipelines)), "")
            if found:
                failures += 1
                print(f"seed {seed}: {found}\n{text}")
        if failures == before:
            failures += 1
            print(f"seeds {begin} to {begin + len(texts) - 1} fail together, and none alone")
    print(f"{failures} of {end - first} graphs differ")
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
