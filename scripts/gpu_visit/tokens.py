"""Token files from a linear congruential generator, for measurements of speed.

Like words of real text, tokens follow Zipf's law: the n-th most frequent one has a frequency proportional to 1/n. So
the gradient of an embedding adds many rows to few, and caches hold these few.

Self-contained: the benchmarks of bench/ use it, too.
"""

import array
import math
import struct
import sys


def generate(count, vocabulary):
    state, tokens, span = 1, array.array("H"), math.log(vocabulary + 1)
    for _ in range(count):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        # The inverse of the distribution: log(1 + token) is uniform.
        tokens.append(min(int(math.exp((state >> 33) / 2**31 * span)), vocabulary) - 1)
    if sys.byteorder == "big":
        tokens.byteswap()
    return tokens.tobytes()


def write_tokens(path, count, vocabulary):
    """Writes tokens in the runtime's binary format."""
    header = struct.pack("<8sIIQQ", b"BRAIDTOK", 1, 2, count, vocabulary).ljust(64, b"\0")
    path.write_bytes(header + generate(count, vocabulary))


def write_llmc_tokens(path, count, vocabulary):
    """Writes tokens in llm.c's format (llmc/dataloader.h), whose header has 256 integers, three of them in use."""
    path.write_bytes(struct.pack("<256i", 20240520, 1, count, *[0] * 253) + generate(count, vocabulary))
