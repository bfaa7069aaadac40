"""Writes a random training graph: python3 random_graph.py SEED [SIZE...] > graph.mlir

Dims have one of the sizes (default: 1 to 64, powers of two and others).  Every value stays of order one, so that compiled results can be compared with the
interpreter's. The same seed gives the same graph.
"""
import random
import sys

SIZES = [1, 2, 3, 5, 8, 16, 20, 33, 64]


def tensor(shape, element="f32"):
    return f"tensor<{''.join(f'{n}x' for n in shape)}{element}>"


class Graph:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.arguments, self.lines, self.values, self.used = [], [], [], set()
        self.numbers = 0

    def name(self):
        self.numbers += 1
        return f"%v{self.numbers}"

    def emit(self, text, shape, element="f32"):
        name = self.name()
        self.lines.append(f"{name} = {text}")
        return name, tuple(shape), element

    def shape(self, rank=None):
        while True:
            shape = tuple(self.random.choice(SIZES) for _ in range(rank or self.random.randint(1, 4)))
            if self.count(shape) <= 4096:
                return shape

    @staticmethod
    def count(shape):
        n = 1
        for size in shape:
            n *= size
        return n

    def parameter(self, shape):
        name = f"%p{len(self.arguments)}"
        attribute = f'#tg.param<"p{len(self.arguments)}", #tg.init<normal, 0.0, 1.0>>'
        self.arguments.append(f"{name}: {tensor(shape)} {{tg.param = {attribute}}}")
        return self.keep((name, tuple(shape), "f32"))

    def input(self, shape):
        name = f"%x{len(self.arguments)}"
        self.arguments.append(f'{name}: {tensor(shape)} {{tg.input = "x{len(self.arguments)}"}}')
        return self.keep((name, tuple(shape), "f32"))

    def keep(self, value):
        self.values.append(value)
        return value

    def pick(self, rank_at_least=0):
        fits = [v for v in self.values if len(v[1]) >= rank_at_least]
        if not fits:
            return self.parameter(self.shape(max(rank_at_least, 1)))
        value = self.random.choice(fits[-8:])
        self.used.add(value[0])
        return value

    def like(self, shape):
        """A value of this shape: one there is, or a broadcast or a new parameter."""
        same = [v for v in self.values if v[1] == shape]
        if same and self.random.random() < 0.6:
            value = self.random.choice(same)
        elif shape and self.random.random() < 0.7:
            kept = sorted(self.random.sample(range(len(shape)), self.random.randint(0, len(shape) - 1)))
            small = tuple(shape[d] for d in kept)
            source = self.parameter(small)
            self.used.add(source[0])
            value = self.emit(f"tg.broadcast {source[0]} dims {kept} : {tensor(small)} -> {tensor(shape)}", shape)
        else:
            value = self.parameter(shape)
        self.used.add(value[0])
        return value

    def constant(self, number, shape):
        return self.emit(f"arith.constant dense<{number}> : {tensor(shape)}", shape)

    def apply(self, op, *values):
        shape = values[0][1]
        return self.emit(f"{op} {', '.join(v[0] for v in values)} : {tensor(shape)}", shape)

    # Kinds of steps.
    def unary(self):
        x = self.pick()
        op = self.random.choice(["tanh", "sin", "cos", "erf", "negf", "sigmoid", "root", "log", "gelu", "silu"])
        one = self.constant(1.0, x[1])
        if op in ("tanh", "sin", "cos", "erf"):
            return self.apply(f"math.{op}", x)
        if op == "negf":
            return self.apply("arith.negf", x)
        if op == "gelu":
            return self.apply("tg.gelu " + self.random.choice(["tanh", "erf"]), x)
        if op == "silu":
            return self.apply("tg.silu", x)
        if op == "sigmoid":
            power = self.apply("math.exp", self.apply("arith.negf", x))
            return self.apply("arith.divf", one, self.apply("arith.addf", one, power))
        square = self.apply("arith.addf", one, self.apply("arith.mulf", x, x))
        if op == "root":
            return self.apply("math.rsqrt" if self.random.random() < 0.5 else "math.sqrt", square)
        return self.apply("math.log", square)

    def binary(self):
        x = self.pick()
        y = self.like(x[1])
        op = self.random.choice(["addf", "subf", "mulf", "maximumf", "select"])
        if op == "select":
            mask = self.emit(f"arith.cmpf {self.random.choice(['ogt', 'ole'])}, {x[0]}, {y[0]} : {tensor(x[1])}", x[1], "i1")
            z = self.like(x[1])
            return self.emit(f"arith.select {mask[0]}, {y[0]}, {z[0]} : {tensor(x[1], 'i1')}, {tensor(x[1])}", x[1])
        return self.apply("math.tanh", self.apply(f"arith.{op}", x, y))

    def reduce(self):
        x = self.pick(1)
        dims = sorted(self.random.sample(range(len(x[1])), self.random.randint(1, len(x[1]))))
        shape = [n for d, n in enumerate(x[1]) if d not in dims]
        kind = self.random.choice(["sum", "mean", "mean", "max"])
        y = self.emit(f"tg.reduce {kind} {x[0]} dims {dims} : {tensor(x[1])} -> {tensor(shape)}", shape)
        return self.apply("math.tanh", y)

    def transpose(self):
        x = self.pick(2)
        order = list(range(len(x[1])))
        self.random.shuffle(order)
        shape = [x[1][d] for d in order]
        return self.emit(f"tg.transpose {x[0]} {order} : {tensor(x[1])} -> {tensor(shape)}", shape)

    def reshape(self):
        x = self.pick(1)
        shape = list(x[1])
        if len(shape) > 1 and self.random.random() < 0.5:
            d = self.random.randrange(len(shape) - 1)
            shape[d:d + 2] = [shape[d] * shape[d + 1]]
        else:
            d = self.random.randrange(len(shape))
            for factor in (2, 4, 3, 1):
                if shape[d] % factor == 0:
                    shape[d:d + 1] = [shape[d] // factor, factor]
                    break
        return self.emit(f"tg.reshape {x[0]} : {tensor(x[1])} -> {tensor(shape)}", shape)

    def slice(self):
        x = self.pick(1)
        d = self.random.randrange(len(x[1]))
        size = self.random.randint(1, x[1][d])
        offset = self.random.randint(0, x[1][d] - size)
        shape = list(x[1])
        shape[d] = size
        return self.emit(f"tg.slice {x[0]} dim {d} offset {offset} size {size} : {tensor(x[1])} -> {tensor(shape)}", shape)

    def concat(self):
        x = self.pick(1)
        d = self.random.randrange(len(x[1]))
        y = self.like(x[1])
        shape = list(x[1])
        shape[d] *= 2
        return self.emit(f"tg.concat {x[0]}, {y[0]} dim {d} : ({tensor(x[1])}, {tensor(x[1])}) -> {tensor(shape)}", shape)

    def contract(self):
        x = self.pick(2)
        letters = "abcde"[:len(x[1])]
        n = self.random.choice(SIZES)
        w = self.parameter((n, x[1][-1]))
        self.used.add(w[0])
        shape = x[1][:-1] + (n,)
        spec = f'"{letters},z{letters[-1]}->{letters[:-1]}z"'
        y = self.emit(f"tg.contract {spec} {x[0]}, {w[0]} : ({tensor(x[1])}, {tensor(w[1])}) -> {tensor(shape)}", shape)
        return self.apply("math.tanh", y)

    def softmax(self):
        return self.apply("tg.softmax", self.pick(1))

    def layer_norm(self):
        x = self.pick(2)
        if x[1][-1] < 3:
            return self.apply("tg.silu", x)
        w, b = self.parameter(x[1][-1:]), self.parameter(x[1][-1:])
        self.used |= {w[0], b[0]}
        rows = tensor(x[1][:-1])
        y = self.name()
        self.lines.append(
            f"{y}, {y}m, {y}r = tg.layer_norm {x[0]}, {w[0]}, {b[0]} eps 1.0e-1 : "
            f"({tensor(x[1])}, {tensor(w[1])}, {tensor(b[1])}) -> ({tensor(x[1])}, {rows}, {rows})")
        return y, x[1], "f32"

    def finish(self):
        """Everything unused is summed into the loss."""
        total = None
        for name, shape, _ in self.values:
            if name in self.used:
                continue
            value = name
            if shape:
                value, _, _ = self.emit(f"tg.reduce mean {name} dims {list(range(len(shape)))} : {tensor(shape)} -> tensor<f32>", ())
            total = value if total is None else self.emit(f"arith.addf {total}, {value} : tensor<f32>", ())[0]
        arguments = ",\n    ".join(self.arguments)
        body = "\n  ".join(self.lines)
        print(f"func.func @model(\n    {arguments})\n    -> (tensor<f32> {{tg.role = #tg.role<loss>}}) {{\n  {body}\n"
              f"  return {total} : tensor<f32>\n}}")


def main():
    SIZES[:] = [int(size) for size in sys.argv[2:]] or SIZES
    graph = Graph(int(sys.argv[1]))
    graph.input(graph.shape(3))
    graph.parameter(graph.shape(3))
    steps = [graph.unary, graph.unary, graph.binary, graph.binary, graph.binary, graph.reduce, graph.transpose,
             graph.reshape, graph.slice, graph.concat, graph.contract, graph.softmax, graph.layer_norm]
    for _ in range(graph.random.randint(6, 24)):
        value = graph.random.choice(steps)()
        if graph.count(value[1]) <= 16384:
            graph.keep(value)
        else:
            graph.used.discard(value[0])
    graph.finish()


main()
