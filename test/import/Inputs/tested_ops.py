#!/usr/bin/env python3
"""Says which ops of the table of braid-import no test calls: tested_ops.py TABLE TEST..."""

import re
import sys
from pathlib import Path

ops = re.findall(r"^\| `(\S+)` \|", Path(sys.argv[1]).read_text(), re.M)
called = set(re.findall(r"\b((?:aten|stablehlo|chlo|func|sdy)\.[\w.]+)\"?\(", "".join(Path(path).read_text() for path in sys.argv[2:])))
missing = [op for op in ops if op not in called]
print("\n".join([*missing, f"{len(ops)} ops, {len(missing)} without a test"]))
