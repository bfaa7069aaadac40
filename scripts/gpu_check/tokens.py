"""Files of tokens from a linear congruential generator: data where only speed counts.

Self-contained: the benchmarks of bench/ use it, too.
"""

import array
import struct
import sys


def generate(count, vocabulary):
    state, tokens = 1, array.array("H")
    for _ in range(count):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        tokens.append((state >> 33) % vocabulary)
    if sys.byteorder == "big":
        tokens.byteswap()
    return tokens.tobytes()


def write_tokens(path, count, vocabulary):
    """In the runtime's binary format."""
    header = struct.pack("<8sIIQQ", b"BRAIDTOK", 1, 2, count, vocabulary).ljust(64, b"\0")
    path.write_bytes(header + generate(count, vocabulary))


def write_llmc_tokens(path, count, vocabulary):
    """In that of llm.c (llmc/dataloader.h): 256 integers, of which three say something."""
    path.write_bytes(struct.pack("<256i", 20240520, 1, count, *[0] * 253) + generate(count, vocabulary))
