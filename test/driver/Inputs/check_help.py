#!/usr/bin/env python3
"""check_help.py MOST COMMAND...

Runs the command, which prints a help: no line is longer than 80 columns, and no heading
has more than MOST options below it.  Prints the help."""

import subprocess
import sys

text = subprocess.run(sys.argv[2:], check=True, capture_output=True, text=True).stdout
problems = [f"{len(line)} columns: {line}" for line in text.splitlines() if len(line) > 80]
heading, below = None, 0
for line in text.splitlines():
    if line.endswith(":") and not line.startswith(" "):
        heading, below = line, 0
    elif line.startswith("  -") or line.startswith("   -"):
        below += 1
        if heading is None:
            problems.append(f"no heading above: {line}")
        if below == int(sys.argv[1]) + 1:
            problems.append(f"more than {sys.argv[1]} options below {heading}")
print(text)
sys.exit("\n".join(problems) or 0)
