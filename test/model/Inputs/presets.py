#!/usr/bin/env python3
"""presets.py FOLDER PRESET...: the graph of each preset is that of the config.json in it."""

import pathlib
import re
import subprocess
import sys

CONFIG = re.compile(r'tg\.config = "([^"]*)"')


def graph(*words):
    return subprocess.run(["braid-model", *words, "--batch", "2", "--seq", "8"], check=True, capture_output=True,
                          text=True).stdout


def main():
    folder, presets = pathlib.Path(sys.argv[1]), sys.argv[2:]
    for preset in presets:
        text = graph(f"--preset={preset}")
        config = re.sub(r"\\([0-9A-F]{2})", lambda match: chr(int(match[1], 16)), CONFIG.search(text)[1])
        path = folder / f"{preset}.json"
        path.write_text(config)
        if graph(path) != text:
            sys.exit(f"{preset} and {path} have different graphs")


main()
