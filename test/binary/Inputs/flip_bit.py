#!/usr/bin/env python3
"""flip_bit.py FILE BYTE

Flips the lowest bit of a byte of the file; a negative number counts from its end."""

import os
import sys

path, place = sys.argv[1], int(sys.argv[2])
with open(path, "r+b") as file:
    file.seek(place, os.SEEK_SET if place >= 0 else os.SEEK_END)
    byte = file.read(1)[0]
    file.seek(-1, os.SEEK_CUR)
    file.write(bytes([byte ^ 1]))
