#!/usr/bin/env python3
"""Writes a module in memory form with kernels of three forms over many shapes, each a launch of program @shapes.

  soft    a softmax over rows of lanes, with a row's value as a result
  grad    the same, and sums over rows of each lane, one for each block of rows
  sums    sums over rows of each lane, without blocks

kernel_shapes.py BLOCKSxROWSxLANES... [--type f32|bf16]     the type of what they read
"""
import argparse


class Module:
    def __init__(self, element):
        self.element, self.kernels, self.buffers, self.body, self.at = element, [], [], [], 0

    def buffer(self, name, shape, element, role):
        bits = {"f32": 4, "bf16": 2}[element]
        bytes = bits
        for size in shape:
            bytes *= size
        text = "x".join(map(str, shape)) + ("x" if shape else "") + element
        self.buffers.append(f'  exec.buffer @{name} at {self.at} bytes {bytes} live {"-1 to 1000" if role == "input" else "0 to 1000"} category '
                            f'{"inputs" if role == "input" else "activations"} name "{name}" "{role}" role "{name}" : tensor<{text}>')
        self.at += (bytes + 255) // 256 * 256
        strides = [1]
        for size in reversed(shape[1:]):
            strides.insert(0, strides[0] * size)
        ref = f"!exec.ref<{text}, [{', '.join(map(str, strides))}]>"
        self.body.append(f"  %{name} = exec.ref @{name} + 0 : {ref}")
        return ref

    def launch(self, name, ins, outs):
        refs = [self.buffer(f"{name}_{key}", shape, element, "input") for key, shape, element in ins]
        results = [self.buffer(f"{name}_{key}", shape, element, "result") for key, shape, element in outs]
        operands = ", ".join(f"%{name}_{key}" for key, _, _ in ins)
        targets = ", ".join(f"%{name}_{key}" for key, _, _ in outs)
        self.body.append(f"  exec.launch @{name} batch 1 ({operands}) outs({targets}) : {', '.join(refs)} -> {', '.join(results)}")
        return refs + results

    def text(self):
        return "\n".join(self.kernels + [f"exec.program @shapes arena {self.at} {{"] + self.buffers + self.body + ["}"]) + "\n"


def tensor(shape, element):
    return f"tensor<{'x'.join(map(str, shape))}x{element}>"


def generic(name, ins, out, maps, kinds, dims, body):
    arguments = ", ".join(f"%{a}: {t.rsplit('x', 1)[1][:-1]}" for a, (_, t) in zip("abcd", ins))
    loops = "(" + ", ".join("ijk"[: len(dims)]) + ")"
    maps = ", ".join(f"affine_map<{loops} -> ({m})>" for m in maps)
    kinds = ", ".join(f'"{"reduction" if kind == "r" else "parallel"}"' for kind in kinds)
    element = out[1].rsplit("x", 1)[1][:-1]
    lines = "\n".join("    " + line for line in body)
    return (f"  %{name} = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}], exec.dims = array<i64: {', '.join(map(str, dims))}>}}\n"
            f"      ins({', '.join('%' + n for n, _ in ins)} : {', '.join(t for _, t in ins)}) outs(%{out[0]} : {out[1]}) {{\n"
            f"  ^bb0({arguments}, %o: {element}):\n{lines}\n  }} -> {out[1]}\n")


def softmax(module, name, blocks, rows, lanes, columns):
    all, row, column = [blocks, rows, lanes], [blocks, rows], [blocks, lanes]
    e = module.element
    x, f, r, c = tensor(all, e), tensor(all, "f32"), tensor(row, "f32"), tensor(column, "f32")
    text = "  %zero = arith.constant 0.0 : f32\n  %low = arith.constant 0xFF800000 : f32\n"
    for key, type in ("ef", f), ("er", r), ("ec", c):
        text += f"  %{key} = tensor.empty() : {type}\n"
    for key, value, of, type in ("fm", "low", "er", r), ("fs", "zero", "er", r), ("fc", "zero", "ec", c):
        text += f"  %{key} = linalg.fill ins(%{value} : f32) outs(%{of} : {type}) -> {type}\n"
    wide = ["%vw = arith.extf %a : bf16 to f32"] if e == "bf16" else ["%vw = arith.addf %a, %zero : f32"]
    text += generic("m", [("x", x)], ("fm", r), ["i, j, k", "i, j"], "ppr", [0, 1, 2], wide + ["%vs = arith.maximumf %vw, %o : f32", "linalg.yield %vs : f32"])
    text += generic("e", [("x", x), ("m", r)], ("ef", f), ["i, j, k", "i, j", "i, j, k"], "ppp", [0, 1, 2],
                    wide + ["%vs = arith.subf %vw, %b : f32", "%vt = math.exp %vs : f32", "linalg.yield %vt : f32"])
    add = ["%vs = arith.addf %a, %o : f32", "linalg.yield %vs : f32"]
    text += generic("s", [("e", f)], ("fs", r), ["i, j, k", "i, j"], "ppr", [0, 1, 2], add)
    text += generic("y", [("e", f), ("s", r)], ("ef", f), ["i, j, k", "i, j", "i, j, k"], "ppp", [0, 1, 2],
                    ["%vq = arith.divf %a, %b : f32", "linalg.yield %vq : f32"])
    outs, results = [("y", all, "f32"), ("s", row, "f32")], [("y", f), ("s", r)]
    if columns:
        text += generic("c", [("y", f)], ("fc", c), ["i, j, k", "i, k"], "prp", [0, 1, 2], add)
        outs += [("c", column, "f32")]
        results += [("c", c)]
    layouts = module.launch(name, [("x", all, e)], outs)
    module.kernels.append(f"exec.kernel_def @{name} space [{blocks}, {rows}, {lanes}] layouts [{', '.join(layouts)}] ties [{', '.join(['-1'] * len(outs))}] {{\n"
                          f"^bb0(%x: {x}):\n{text}  exec.yield {', '.join('%' + n for n, _ in results)} : {', '.join(t for _, t in results)}\n}}")


def sums(module, name, rows, lanes):
    x, c = tensor([rows, lanes], module.element), tensor([lanes], "f32")
    wide = ["%vw = arith.extf %a : bf16 to f32"] if module.element == "bf16" else ["%vw = arith.mulf %a, %a : f32"]
    text = f"  %zero = arith.constant 0.0 : f32\n  %ec = tensor.empty() : {c}\n  %fc = linalg.fill ins(%zero : f32) outs(%ec : {c}) -> {c}\n"
    text += generic("c", [("x", x)], ("fc", c), ["i, j", "j"], "rp", [0, 1], wide + ["%vs = arith.addf %vw, %o : f32", "linalg.yield %vs : f32"])
    layouts = module.launch(name, [("x", [rows, lanes], module.element)], [("c", [lanes], "f32")])
    module.kernels.append(f"exec.kernel_def @{name} space [{rows}, {lanes}] layouts [{', '.join(layouts)}] ties [-1] {{\n^bb0(%x: {x}):\n{text}  exec.yield %c : {c}\n}}")


parser = argparse.ArgumentParser()
parser.add_argument("shapes", nargs="+")
parser.add_argument("--type", default="f32")
arguments = parser.parse_args()
module = Module(arguments.type)
for shape in arguments.shapes:
    blocks, rows, lanes = map(int, shape.split("x"))
    softmax(module, f"soft_{shape}", blocks, rows, lanes, False)
    softmax(module, f"grad_{shape}", blocks, rows, lanes, True)
    sums(module, f"sums_{shape}", blocks * rows, lanes)
print(module.text(), end="")
