#!/usr/bin/env python3
"""text.py BYTES: writes that many bytes of text that a model can learn from."""

import itertools
import sys

words = "the quick brown fox jumps over a lazy dog and then it sleeps under an old tree by the river ".encode()
sys.stdout.buffer.write(bytes(itertools.islice(itertools.cycle(words), int(sys.argv[1]))))
