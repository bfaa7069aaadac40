#!/usr/bin/env python3
"""Writes an MLP of as many units as the argument says, each a square matrix and a bias;
the first and the last matrix are the root unit.  With `tied` they are one parameter."""

import sys

layers, tied = int(sys.argv[1]), "tied" in sys.argv
BATCH, WIDTH = 8, 16


def param(value, name, shape, unit=""):
    unit = f', unit = "{unit}"' if unit else ""
    return f'%{value}: tensor<{shape}xf32> {{tg.param = #tg.param<"{name}", #tg.init<normal, 0.0, 0.3>{unit}>}}'


def contract(value, spec, x, w, shapes):
    a, b, c = (f"tensor<{shape}xf32>" for shape in shapes)
    print(f'  %{value} = tg.contract "{spec}" %{x}, %{w} : ({a}, {b}) -> {c}')


square, rows = f"{WIDTH}x{WIDTH}", f"{BATCH}x{WIDTH}"
arguments = [
    f'%x: tensor<{BATCH}x6xf32> {{tg.input = "x", tg.role = #tg.role<features>}}',
    f'%t: tensor<{BATCH}x6xf32> {{tg.input = "t", tg.role = #tg.role<labels>}}',
    param("first", "first", f"6x{WIDTH}"),
]
for i in range(layers):
    arguments += [param(f"w{i}", f"h.{i}.w", square, f"h.{i}"), param(f"b{i}", f"h.{i}.b", WIDTH, f"h.{i}")]
if not tied:
    arguments.append(param("last", "last", f"6x{WIDTH}"))

print("func.func @model(", ",\n    ".join(arguments), ') -> (tensor<f32> {tg.role = #tg.role<loss>}) {', sep="")
contract("h0", "bi,io->bo", "x", "first", [f"{BATCH}x6", f"6x{WIDTH}", rows])
for i in range(layers):
    contract(f"z{i}", "bi,oi->bo", f"h{i}", f"w{i}", [rows, square, rows])
    print(f"  %r{i} = tg.broadcast %b{i} dims [1] : tensor<{WIDTH}xf32> -> tensor<{rows}xf32>")
    print(f"  %s{i} = arith.addf %z{i}, %r{i} : tensor<{rows}xf32>")
    print(f"  %h{i + 1} = tg.gelu tanh %s{i} : tensor<{rows}xf32>")
contract("y", "bi,oi->bo", f"h{layers}", "first" if tied else "last", [rows, f"6x{WIDTH}", f"{BATCH}x6"])
print(f"""  %d = arith.subf %y, %t : tensor<{BATCH}x6xf32>
  %q = arith.mulf %d, %d : tensor<{BATCH}x6xf32>
  %loss = tg.reduce mean %q dims [0, 1] : tensor<{BATCH}x6xf32> -> tensor<f32>
  return %loss : tensor<f32>
}}""")
