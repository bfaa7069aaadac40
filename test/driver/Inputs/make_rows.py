#!/usr/bin/env python3
"""make_rows.py FILE: 64 rows of 16 features and a label, as safetensors."""

import json
import random
import struct
import sys

ROWS, FEATURES = 64, 16


def main():
    random.seed(1)
    values = [random.gauss(0, 1) for _ in range(ROWS * (FEATURES + 1))]
    split = 4 * ROWS * FEATURES
    header = json.dumps({
        "features": {"dtype": "F32", "shape": [ROWS, FEATURES], "data_offsets": [0, split]},
        "labels": {"dtype": "F32", "shape": [ROWS, 1], "data_offsets": [split, 4 * len(values)]},
    }).encode()
    with open(sys.argv[1], "wb") as file:
        file.write(struct.pack("<Q", len(header)) + header + struct.pack(f"<{len(values)}f", *values))


if __name__ == "__main__":
    main()
