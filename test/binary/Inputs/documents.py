"""Documents of 9 tokens of 64, one behind the other in one token file and each in one of its own:
documents.py FOLDER COUNT"""

import pathlib
import random
import struct
import sys


def write(path, ids, starts):
    file = struct.pack("<8sIIQQQQIIQ", b"BRAIDTOK", 2, 2, len(ids), 64, len(starts), 0, 0, 0xffffffff, 0)
    file += struct.pack(f"<{len(ids)}H", *ids)
    path.write_bytes(file + bytes(-len(file) % 8) + struct.pack(f"<{len(starts)}Q", *starts))


folder, count = pathlib.Path(sys.argv[1]), int(sys.argv[2])
random.seed(1)
documents = [[random.randrange(64) for _ in range(9)] for _ in range(count)]
write(folder / "all.tok", sum(documents, []), [9 * i for i in range(count)])
(folder / "apart").mkdir()
for number, document in enumerate(documents):
    write(folder / "apart" / f"{number:02}.tok", document, [0])
