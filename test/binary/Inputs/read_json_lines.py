"""Reads JSON as the scripts do: read_json_lines.py SCRIPTS [--whole] FILE..."""

import pathlib
import sys

sys.path.insert(0, sys.argv[1])
sys.dont_write_bytecode = True

from tokenization import documents, guarded  # noqa: E402

isWhole = sys.argv[2] == "--whole"
for path in sys.argv[3 if isWhole else 2:]:
    try:
        count = 1 if isWhole and guarded.read(path) else len(list(documents.json_lines(path)))
        print(f"{pathlib.Path(path).name}: {count} objects")
    except guarded.Failure as failure:
        print(failure)
