#!/usr/bin/env python3
"""Writes 4096 points of sin(x), x in [-3, 3], as a safetensors file with x and t."""

import array
import json
import math
import sys

points = 4096
x = array.array("f", (-3 + 6 * ((7919 * i) % points) / (points - 1) for i in range(points)))
t = array.array("f", (math.sin(value) for value in x))
size = 4 * points
header = {"x": {"dtype": "F32", "shape": [points, 1], "data_offsets": [0, size]},
          "t": {"dtype": "F32", "shape": [points, 1], "data_offsets": [size, 2 * size]}}
text = json.dumps(header).encode()
text += b" " * (-len(text) % 8)
if sys.byteorder == "big":
    x.byteswap()
    t.byteswap()
with open(sys.argv[1], "wb") as out:
    out.write(len(text).to_bytes(8, "little") + text + x.tobytes() + t.tobytes())
