#!/usr/bin/env python3
"""gradient_graphs.py GROUP [REGEX]

Writes a training graph with many small cases, each one op between parameters
and the loss, so that one compiled program holds the gradients of them all.

A case adds sum(y * w) to the loss: the gradient of the parameter `CASE.w` is
the op's value y, the gradients of the other parameters are what is tested.
Sizes are chosen for the tails of vector loops: 1, 3, 17, 33 and 100 lanes, and
for tensors of rank 1 to 5. REGEX chooses cases, to look into a failure."""

import math
import random
import re
import sys


def tensor(shape, element="f32"):
    return "tensor<" + "".join(f"{size}x" for size in shape) + element + ">"


def nested(values, shape):
    """A dense literal of the values, in row-major order."""
    if not shape:
        return str(values[0])
    step = len(values) // shape[0]
    return "[" + ", ".join(nested(values[i * step:(i + 1) * step], shape[1:]) for i in range(shape[0])) + "]"


class Graph:
    def __init__(self, chosen):
        self.chosen = re.compile(chosen)
        self.arguments, self.body, self.losses, self.names = [], [], [], set()
        self.random = random.Random(1)
        self.case = None

    def begin(self, case):
        assert case not in self.names, case
        self.names.add(case)
        self.case = case

    def value(self, text, types):
        name = f"%v{len(self.body)}"
        self.body.append(f"    {name} = {text} : {types}")
        return name

    def results(self, count, text, types):
        """An op with several results, of which the first is used."""
        name = f"%v{len(self.body)}"
        self.body.append(f"    {name}:{count} = {text} : {types}")
        return [f"{name}#{i}" for i in range(count)]

    def param(self, name, shape):
        full = f"{self.case}.{name}"
        value = f"%a{len(self.arguments)}"
        self.arguments.append(f'{value}: {tensor(shape)} {{tg.param = #tg.param<"{full}", #tg.init<normal, 0.0, 1.0>>}}')
        return value

    def constant(self, values, shape, element="i32"):
        return self.value(f"arith.constant dense<{nested(values, shape)}>", tensor(shape, element))

    def splat(self, number, shape):
        return self.value(f"arith.constant dense<{number}>", tensor(shape))

    def indices(self, shape, end, ignored=()):
        count = math.prod(shape)
        values = [-1 if i in ignored else self.random.randrange(end) for i in range(count)]
        return self.constant(values, shape)

    def weigh(self, y, shape):
        """Adds sum(y * w) to the loss."""
        if not self.chosen.search(self.case):
            return
        w = self.param("w", shape)
        z = self.value(f"arith.mulf {y}, {w}", tensor(shape))
        if shape:
            dims = list(range(len(shape)))
            z = self.value(f"tg.reduce sum {z} dims {dims}", f"{tensor(shape)} -> {tensor([])}")
        self.losses.append(z)

    def text(self):
        loss = self.losses[0]
        for other in self.losses[1:]:
            loss = self.value(f"arith.addf {loss}, {other}", tensor([]))
        arguments = ",\n      ".join(self.arguments)
        return ("module {\n  func.func @model(\n      " + arguments +
                ')\n      -> (tensor<f32> {tg.role = #tg.role<loss>}) {\n' + "\n".join(self.body) +
                f"\n    return {loss} : tensor<f32>\n  }}\n}}\n")


SHAPES = [[5], [3, 17], [2, 3, 33], [2, 2, 3, 5], [2, 1, 3, 2, 7], [100], [4, 1], [2, 100], [3, 3, 3], [1], [7, 33]]


def elementwise(g):
    shapes = iter(SHAPES * 10)

    def unary(op, name=None, positive=False):
        shape = next(shapes)
        g.begin(name or op.replace(".", "_").replace(" ", "_"))
        x = g.param("x", shape)
        if positive:
            x = g.value(f"arith.mulf {x}, {x}", tensor(shape))
            x = g.value(f"arith.addf {x}, {g.splat(0.5, shape)}", tensor(shape))
        g.weigh(g.value(f"{op} {x}", tensor(shape)), shape)

    for op in ("arith.negf", "math.exp", "math.exp2", "math.expm1", "math.tanh", "math.erf", "math.sin", "math.cos",
               "math.absf", "tg.gelu tanh", "tg.gelu erf", "tg.silu"):
        unary(op)
    for op in ("math.log", "math.log1p", "math.sqrt", "math.rsqrt"):
        unary(op, positive=True)
    for op in ("arith.addf", "arith.subf", "arith.mulf", "arith.maximumf", "arith.minimumf", "arith.divf", "math.powf"):
        shape = next(shapes)
        g.begin(op.replace(".", "_"))
        a, b = g.param("a", shape), g.param("b", shape)
        if op == "arith.divf":
            b = g.value(f"arith.addf {g.value(f'arith.mulf {b}, {b}', tensor(shape))}, {g.splat(0.5, shape)}", tensor(shape))
        if op == "math.powf":
            a = g.value(f"arith.addf {g.value(f'arith.mulf {a}, {a}', tensor(shape))}, {g.splat(0.5, shape)}", tensor(shape))
        g.weigh(g.value(f"{op} {a}, {b}", tensor(shape)), shape)
    for i, shape in enumerate(([33], [2, 3, 5])):
        g.begin(f"fma{i}")
        a, b, c = (g.param(name, shape) for name in "abc")
        g.weigh(g.value(f"math.fma {a}, {b}, {c}", tensor(shape)), shape)
        g.begin(f"relu{i}")
        x = g.param("x", shape)
        zero = g.splat(0.0, shape)
        condition = g.value(f"arith.cmpf ogt, {x}, {zero}", tensor(shape))
        g.weigh(g.value(f"arith.select {condition}, {x}, {zero}", f"{tensor(shape, 'i1')}, {tensor(shape)}"), shape)
    # One value with many uses, and a chain over several of them.
    shape = [3, 33]
    g.begin("shared")
    x = g.param("x", shape)
    s = g.value(f"math.sin {x}", tensor(shape))
    b = g.value(f"arith.mulf {s}, {x}", tensor(shape))
    c = g.value(f"arith.addf {b}, {s}", tensor(shape))
    g.weigh(g.value(f"arith.mulf {c}, {b}", tensor(shape)), shape)


def movement(g):
    for i, (before, dims, after) in enumerate((([17], [1], [3, 17]), ([3], [0], [3, 33]), ([3, 1], [0, 2], [3, 2, 5]), ([], [], [100]),
                                               ([2, 3], [1, 3], [2, 2, 3, 3]), ([1], [0], [17]), ([5], [2], [2, 3, 5, 1, 2]))):
        g.begin(f"broadcast{i}")
        x = g.param("x", before)
        g.weigh(g.value(f"tg.broadcast {x} dims {dims}", f"{tensor(before)} -> {tensor(after)}"), after)
    for kind in ("sum", "mean", "max"):
        for i, (before, dims) in enumerate((([17], [0]), ([3, 33], [1]), ([33, 3], [0]), ([2, 3, 17], [1]), ([2, 3, 5], [0, 2]),
                                            ([2, 1, 3, 2, 3], [1, 3, 4]), ([100, 3], [0, 1]), ([4, 1], [1]))):
            after = [size for dim, size in enumerate(before) if dim not in dims]
            g.begin(f"reduce_{kind}{i}")
            x = g.param("x", before)
            g.weigh(g.value(f"tg.reduce {kind} {x} dims {dims}", f"{tensor(before)} -> {tensor(after)}"), after)
    for i, (before, order) in enumerate((([3, 17], [1, 0]), ([2, 3, 33], [2, 0, 1]), ([2, 3, 4, 5], [0, 2, 1, 3]), ([2, 1, 3, 2, 7], [4, 3, 0, 2, 1]))):
        g.begin(f"transpose{i}")
        after = [before[dim] for dim in order]
        x = g.param("x", before)
        g.weigh(g.value(f"tg.transpose {x} {order}", f"{tensor(before)} -> {tensor(after)}"), after)
    for i, (before, after) in enumerate((([2, 6], [3, 4]), ([33], [11, 3]), ([2, 3, 5], [30]), ([1], []))):
        g.begin(f"reshape{i}")
        x = g.param("x", before)
        g.weigh(g.value(f"tg.reshape {x}", f"{tensor(before)} -> {tensor(after)}"), after)
    for i, (before, dim, offset, size, stride) in enumerate((([3, 40], 1, 5, 33, 1), ([5, 17], 0, 1, 3, 1), ([9, 3], 0, 1, 2, 3), ([2, 8], 1, 1, 3, 3),
                                                             ([2, 3, 4, 5], 2, 1, 1, 1), ([2, 2, 5], 1, 1, 1, 1))):
        g.begin(f"slice{i}")
        after = before[:dim] + [size] + before[dim + 1:]
        x = g.param("x", before)
        step = f" stride {stride}" if stride > 1 else ""
        g.weigh(g.value(f"tg.slice {x} dim {dim} offset {offset} size {size}{step}", f"{tensor(before)} -> {tensor(after)}"), after)
    # Neighbouring, overlapping and separate slices of one value.
    g.begin("slices")
    x = g.param("x", [3, 51])
    a, b, c = (g.value(f"tg.slice {x} dim 1 offset {offset} size 17", f"{tensor([3, 51])} -> {tensor([3, 17])}") for offset in (0, 17, 30))
    y = g.value(f"arith.mulf {a}, {b}", tensor([3, 17]))
    g.weigh(g.value(f"arith.mulf {y}, {c}", tensor([3, 17])), [3, 17])
    for i, (dim, shapes) in enumerate(((1, ([2, 3], [2, 17], [2, 1])), (0, ([1, 33], [3, 33])), (2, ([2, 2, 1], [2, 2, 3])), (0, ([3], [5], [33])))):
        g.begin(f"concat{i}")
        after = list(shapes[0])
        after[dim] = sum(shape[dim] for shape in shapes)
        parts = [g.param(f"x{part}", shape) for part, shape in enumerate(shapes)]
        y = g.value(f"tg.concat {', '.join(parts)} dim {dim}", f"({', '.join(map(tensor, shapes))}) -> {tensor(after)}")
        g.weigh(g.value(f"math.sin {y}", tensor(after)), after)
    # A value is two parts of a concat, and is used beside it.
    g.begin("concat_twice")
    x = g.param("x", [3, 5])
    y = g.value(f"tg.concat {x}, {x} dim 1", f"({tensor([3, 5])}, {tensor([3, 5])}) -> {tensor([3, 10])}")
    y = g.value(f"math.sin {y}", tensor([3, 10]))
    z = g.value(f"tg.slice {y} dim 1 offset 3 size 5", f"{tensor([3, 10])} -> {tensor([3, 5])}")
    g.weigh(g.value(f"arith.mulf {z}, {x}", tensor([3, 5])), [3, 5])
    for i, (before, dim, low, high) in enumerate((([2, 3], 1, 1, 2), ([3, 33], 0, 2, 0), ([17], 0, 0, 1), ([2, 3, 2], 1, 1, 1))):
        g.begin(f"pad{i}")
        after = list(before)
        after[dim] += low + high
        x = g.param("x", before)
        g.weigh(g.value(f"tg.pad {x} dim {dim} low {low} high {high} value 0.5", f"{tensor(before)} -> {tensor(after)}"), after)
    # A table that is read by rows and multiplied: a tied embedding.
    for i, (rows, width, shape) in enumerate(((7, 17, [2, 9]), (4, 1, [5]), (300, 33, [3, 2, 4]))):
        g.begin(f"tied{i}")
        table, index = g.param("table", [rows, width]), g.indices(shape, rows)
        y = g.value(f"tg.gather {table}, {index}", f"({tensor([rows, width])}, {tensor(shape, 'i32')}) -> {tensor(shape + [width])}")
        y = g.value(f"tg.reshape {y}", f"{tensor(shape + [width])} -> {tensor([math.prod(shape), width])}") if len(shape) > 1 else y
        flat = [math.prod(shape), width]
        y = g.value(f"math.sin {y}", tensor(flat))
        g.weigh(g.value(f'tg.contract "bd,vd->bv" {y}, {table}', f"({tensor(flat)}, {tensor([rows, width])}) -> {tensor([flat[0], rows])}"), [flat[0], rows])
        g.begin(f"scatter_add{i}")
        update = g.param("update", shape + [width])
        y = g.value(f"tg.scatter_add {index}, {update}", f"({tensor(shape, 'i32')}, {tensor(shape + [width])}) -> {tensor([rows, width])}")
        y = g.value(f"arith.mulf {y}, {y}", tensor([rows, width]))
        g.weigh(y, [rows, width])


def composites(g):
    for i, (formula, left, right, after) in enumerate((
            ("mk,kn->mn", [3, 17], [17, 5], [3, 5]), ("mk,nk->mn", [1, 33], [100, 33], [1, 100]), ("km,kn->mn", [7, 3], [7, 33], [3, 33]),
            ("bmk,bkn->bmn", [2, 3, 5], [2, 5, 17], [2, 3, 17]), ("bsk,nk->bsn", [2, 3, 17], [9, 17], [2, 3, 9]), ("bshd,bthd->bhst", [2, 3, 2, 5], [2, 4, 2, 5], [2, 2, 3, 4]),
            ("ksm,snk->nm", [4, 2, 3], [2, 5, 4], [5, 3]), ("k,k->", [17], [17], []), ("m,n->mn", [3], [5], [3, 5]), ("mk,k->m", [3, 33], [33], [3]),
            ("b,bn->bn", [3], [3, 7], [3, 7]))):
        g.begin(f"contract{i}")
        a, b = g.param("a", left), g.param("b", right)
        g.weigh(g.value(f'tg.contract "{formula}" {a}, {b}', f"({tensor(left)}, {tensor(right)}) -> {tensor(after)}"), after)
    g.begin("contract_square")
    a = g.param("a", [5, 5])
    g.weigh(g.value(f'tg.contract "ik,kj->ij" {a}, {a}', f"({tensor([5, 5])}, {tensor([5, 5])}) -> {tensor([5, 5])}"), [5, 5])
    # A linear layer with what its epilogue takes: bias and activation, and a residual.
    g.begin("linear")
    x, weight, bias = g.param("x", [6, 17]), g.param("weight", [33, 17]), g.param("bias", [33])
    h = g.value(f'tg.contract "bi,oi->bo" {x}, {weight}', f"({tensor([6, 17])}, {tensor([33, 17])}) -> {tensor([6, 33])}")
    h = g.value(f"arith.addf {h}, {g.value(f'tg.broadcast {bias} dims [1]', f'{tensor([33])} -> {tensor([6, 33])}')}", tensor([6, 33]))
    h = g.value(f"tg.gelu tanh {h}", tensor([6, 33]))
    y = g.value(f'tg.contract "bo,oi->bi" {h}, {weight}', f"({tensor([6, 33])}, {tensor([33, 17])}) -> {tensor([6, 17])}")
    g.weigh(g.value(f"arith.addf {y}, {x}", tensor([6, 17])), [6, 17])
    for i, shape in enumerate(([3, 17], [33], [2, 3, 100], [5, 1], [2, 2, 2, 3])):
        lanes, rows = shape[-1], shape[:-1]
        g.begin(f"softmax{i}")
        g.weigh(g.value(f"tg.softmax {g.param('x', shape)}", tensor(shape)), shape)
        g.begin(f"rms_norm{i}")
        x, gain = g.param("x", shape), g.param("gain", [lanes])
        y, _ = g.results(2, f"tg.rms_norm {x}, {gain} eps 1.0e-3", f"({tensor(shape)}, {tensor([lanes])}) -> ({tensor(shape)}, {tensor(rows)})")
        g.weigh(y, shape)
        g.begin(f"rms_norm_offset{i}")
        x, gain = g.param("x", shape), g.param("gain", [lanes])
        y, _ = g.results(2, f"tg.rms_norm {x}, {gain} eps 1.0e-3 offset 1.0", f"({tensor(shape)}, {tensor([lanes])}) -> ({tensor(shape)}, {tensor(rows)})")
        g.weigh(y, shape)
        if lanes == 1:
            continue  # its variance is zero: no gradient to compare
        g.begin(f"layer_norm{i}")
        x, gain, bias = g.param("x", shape), g.param("gain", [lanes]), g.param("bias", [lanes])
        y, mean, rstd = g.results(3, f"tg.layer_norm {x}, {gain}, {bias} eps 1.0e-3",
                                  f"({tensor(shape)}, {tensor([lanes])}, {tensor([lanes])}) -> ({tensor(shape)}, {tensor(rows)}, {tensor(rows)})")
        g.weigh(y, shape)
        g.begin(f"layer_norm_unbiased{i}")
        x, gain = g.param("x", shape), g.param("gain", [lanes])
        y, mean, rstd = g.results(3, f"tg.layer_norm {x}, {gain} eps 1.0e-3", f"({tensor(shape)}, {tensor([lanes])}) -> ({tensor(shape)}, {tensor(rows)}, {tensor(rows)})")
        g.weigh(y, shape)
    for i, (shape, rate) in enumerate((([3, 17], 0.4), ([2, 3, 33], 0.1), ([100], 0.5), ([2, 1, 2, 3, 3], 0.25))):
        g.begin(f"dropout{i}")
        key = g.constant([7, 0, 3, i], [4])
        x = g.param("x", shape)
        g.weigh(g.value(f"tg.dropout {x}, {key} rate {rate} stream {i}", f"({tensor(shape)}, {tensor([4], 'i32')}) -> {tensor(shape)}"), shape)
    for kind in ("mean", "sum"):
        for i, (rows, classes, ignored) in enumerate((([2, 3], 17, (1, 4)), ([5], 100, ()), ([1], 3, ()), ([4, 2], 33, (0, 1, 2, 3, 4, 5)), ([7], 1, (2,)))):
            g.begin(f"cross_entropy_{kind}{i}")
            x, targets = g.param("x", rows + [classes]), g.indices(rows, classes, ignored)
            y, _ = g.results(2, f"tg.cross_entropy {kind} {x}, {targets} ignore -1",
                             f"({tensor(rows + [classes])}, {tensor(rows, 'i32')}) -> ({tensor([])}, {tensor(rows)})")
            g.weigh(y, [])
    # Batch, queries, keys, heads, key heads, width of a head.  No window of 1 among them: the
    # gradients of queries and keys would be zero, with nothing to measure what f32 leaves by.
    for i, (batch, queries, keys, heads, shared, width, how) in enumerate((
            (2, 5, 5, 2, 2, 4, " causal"), (1, 17, 17, 3, 3, 5, " causal"), (2, 3, 7, 2, 2, 3, ""), (2, 5, 5, 4, 2, 8, " causal"),
            (1, 9, 9, 6, 2, 17, " causal"), (2, 6, 6, 3, 1, 4, " causal"), (1, 1, 1, 1, 1, 1, " causal"), (1, 4, 4, 4, 2, 5, ""), (1, 33, 33, 1, 1, 3, " causal"),
            (2, 7, 7, 2, 1, 4, " causal window 3"), (1, 33, 33, 2, 2, 5, " causal window 2"), (1, 5, 5, 1, 1, 3, " causal window 9"),
            (1, 3, 9, 2, 2, 4, " causal offset 6"), (2, 4, 9, 2, 1, 3, " causal offset 2"), (1, 18, 35, 1, 1, 4, " causal window 7 offset 17"),
            (1, 4, 7, 2, 2, 3, " causal offset 0"), (2, 5, 5, 2, 1, 4, " softcap 0.7"), (1, 19, 19, 2, 2, 4, " causal window 6 softcap 1.5"))):
        g.begin(f"attention{i}")
        wide, narrow = [batch, queries, heads, width], [batch, keys, shared, width]
        q, k, v = g.param("q", wide), g.param("k", narrow), g.param("v", narrow)
        o, _ = g.results(2, f"tg.attention {q}, {k}, {v} scale 0.5{how}",
                         f"({tensor(wide)}, {tensor(narrow)}, {tensor(narrow)}) -> ({tensor(wide)}, {tensor([batch, heads, queries])})")
        g.weigh(o, wide)
    # Rows of several documents, in a run each or one beside the other.
    for i, (batch, queries, keys, heads, shared, width, how, document) in enumerate((
            (2, 19, 19, 2, 2, 4, " causal", lambda b, t: (t + b) // 5), (1, 33, 33, 2, 1, 5, "", lambda b, t: t % 3),
            (2, 7, 20, 1, 1, 3, " causal window 6 offset 13", lambda b, t: t // 8))):
        g.begin(f"attention_documents{i}")
        wide, narrow = [batch, queries, heads, width], [batch, keys, shared, width]
        q, k, v = g.param("q", wide), g.param("k", narrow), g.param("v", narrow)
        documents = g.constant([document(b, t) for b in range(batch) for t in range(keys)], [batch, keys])
        o, _ = g.results(2, f"tg.attention {q}, {k}, {v}, {documents} scale 0.5{how}",
                         f"({tensor(wide)}, {tensor(narrow)}, {tensor(narrow)}, {tensor([batch, keys], 'i32')}) -> "
                         f"({tensor(wide)}, {tensor([batch, heads, queries])})")
        g.weigh(o, wide)
    for i, (shape, how) in enumerate((([2, 3, 2, 6], ""), ([1, 17, 1, 2], ""), ([2, 5, 3, 34], ""), ([1, 3, 2, 6], " inverse"),
                                       ([2, 5, 3, 10], " dims 6"), ([1, 9, 2, 8], " dims 2 linear 4.0"),
                                       ([1, 17, 1, 16], " llama3 8.0 low 0.2 high 2.0 positions 16"))):
        g.begin(f"rope{i}")
        g.weigh(g.value(f"tg.rope {g.param('x', shape)} theta 100.0{how}", tensor(shape)), shape)


def main():
    groups = {"elementwise": elementwise, "movement": movement, "composites": composites}
    if len(sys.argv) not in (2, 3) or sys.argv[1] not in groups:
        sys.exit(f"usage: gradient_graphs.py {'|'.join(groups)} [REGEX]")
    graph = Graph(sys.argv[2] if len(sys.argv) == 3 else "")
    groups[sys.argv[1]](graph)
    sys.stdout.write(graph.text())


if __name__ == "__main__":
    main()
