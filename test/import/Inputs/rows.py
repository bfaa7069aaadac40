#!/usr/bin/env python3
"""rows.py FILE NAME ROWS COLUMNS

Writes rows of normal numbers as the tensor NAME of a safetensors file."""

import pathlib
import random
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "scripts"))
from equivalence.safetensors_file import write

file, name, rows, columns = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
numbers = random.Random(1)
values = [numbers.gauss(row / rows, 1 + row / rows) for row in range(rows) for _ in range(columns)]
write(pathlib.Path(file), {name: ("F32", [rows, columns], struct.pack(f"<{len(values)}f", *values))})
