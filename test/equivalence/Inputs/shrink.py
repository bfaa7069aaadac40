#!/usr/bin/env python3
"""shrink.py CONFIG.json KEY=NUMBER...

Prints a model's configuration with some numbers replaced: the same graph, small
enough for the interpreter."""

import json
import sys

with open(sys.argv[1]) as file:
    config = json.load(file)
for text in sys.argv[2:]:
    key, number = text.split("=")
    if key not in config:
        sys.exit(f"{sys.argv[1]} has no '{key}'")
    config[key] = int(number)
print(json.dumps(config))
