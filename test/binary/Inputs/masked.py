"""A token file with a mask: masked.py FILE COUNT EVERY counts every EVERY-th token as a target, none with 0.  With a
fourth argument N, each second window of N tokens counts none at all."""

import struct
import sys

path, count, every = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
window = int(sys.argv[4]) if len(sys.argv) > 4 else 0
ids = [i * i % 61 for i in range(count)]
counts = [every > 0 and i % every == 0 and not (window and (i - 1) // window % 2) for i in range(count)]
mask = bytes(sum(counts[first + i] << i for i in range(8) if first + i < count) for first in range(0, count, 8))
file = struct.pack("<8sIIQQQQIIQ", b"BRAIDTOK", 2, 2, count, 64, 0, 0, 1, 0xffffffff, 0) + struct.pack(f"<{count}H", *ids)
with open(path, "wb") as out:
    out.write(file + bytes(-len(file) % 8) + mask)
