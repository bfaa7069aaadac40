"""Gives the first tensor of a safetensors file a name that sets a terminal's title: escape_names.py IN OUT"""

import json
import pathlib
import sys

data = pathlib.Path(sys.argv[1]).read_bytes()
length = int.from_bytes(data[:8], "little")
header = json.loads(data[8:8 + length])
name = next(key for key in header if key != "__metadata__")
header["\x1b]0;pwned\x07" + name] = header.pop(name)
text = json.dumps(header).encode()
pathlib.Path(sys.argv[2]).write_bytes(len(text).to_bytes(8, "little") + text + data[8 + length:])
