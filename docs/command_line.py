#!/usr/bin/env python3
"""Writes CommandLine.md: the options of every tool and of training binaries, as the
tables say them from which their help is made.

    docs/command_line.py [--check]

Takes braidc and the other tools from PATH.  `--check` changes nothing and fails when the
page is not what would be written.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE / "CommandLine.md"
GRAPH = HERE.parent / "examples" / "mlp-by-hand" / "mlp.mlir"
INTRODUCTION = """# Command lines
Written by `docs/command_line.py` from the tables of options (`runtime/cli`), as is each program's `--help`. Options are written `--name=value` or `--name value`.
A program whose command line makes no sense ends with status 2, one that fails with 1. `braid-opt` has the options of `mlir-opt` and those of every pass: `braid-opt --help`.

"""


def page():
    def markdown(*command):
        return subprocess.run([*command, "--help=markdown"], check=True, capture_output=True, text=True).stdout

    tools = [markdown(name) for name in ("braid-model", "braidc")]
    with tempfile.TemporaryDirectory() as folder:
        binary = pathlib.Path(folder) / "train"
        subprocess.run(["braidc", GRAPH, "-o", binary], check=True)
        commands = markdown(binary).replace("## `train ", "## `./train ")
    return INTRODUCTION + "".join([*tools, commands, markdown("braid-schedule"), markdown("braid-interp")]).rstrip() + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="fail when the page is stale")
    arguments = parser.parse_args()
    text = page()
    if not arguments.check:
        PAGE.write_text(text)
    elif not PAGE.exists() or PAGE.read_text() != text:
        sys.exit("docs/CommandLine.md is not what the tools say: run docs/command_line.py")


if __name__ == "__main__":
    main()
