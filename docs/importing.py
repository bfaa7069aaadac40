#!/usr/bin/env python3
"""Writes the ops that can be imported into Importing.md, between markers, from the tables of braid-import.

    docs/importing.py [--check]

Takes braid-import from PATH.  `--check` changes nothing and fails when the page is not what would be written.
"""

import argparse
import pathlib
import subprocess
import sys

PAGE = pathlib.Path(__file__).resolve().parent / "Importing.md"
SOURCES = {"pytorch": "<!-- The table of ops: written by docs/importing.py -->",
           "stablehlo": "<!-- The table of ops of StableHLO: written by docs/importing.py -->"}
END = "<!-- End of what docs/importing.py writes -->"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    page = written = PAGE.read_text()
    for source, begin in SOURCES.items():
        ops = subprocess.run(["braid-import", "--ops", f"--from={source}"], check=True, capture_output=True, text=True).stdout
        before, found, rest = written.partition(begin)
        _, end, after = rest.partition(END)
        if not found or not end:
            sys.exit(f"{PAGE} lacks the markers of docs/importing.py")
        written = f"{before}{begin}\n{ops}{END}{after}"
    if not arguments.check:
        PAGE.write_text(written)
    elif written != page:
        sys.exit(f"{PAGE} is not what braid-import says: run docs/importing.py")


if __name__ == "__main__":
    main()
