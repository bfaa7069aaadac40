#!/usr/bin/env python3
"""Prints the tensors of a safetensors file with their first elements: show_weights.py FILE"""

import struct
import sys

from against_pytorch import read

for name, (element, shape, data) in sorted(read(sys.argv[1]).items()):
    numbers = struct.unpack(f"<{min(4, len(data) // 4)}f", data[:16]) if element == "F32" else ()
    print(name, element, shape, *numbers)
