#!/usr/bin/env python3
"""Writes CommandLine.md: the options of every tool and of training binaries, from the same tables as their help. Also
writes runtime/cli/ProgramOptions.h: the names of these options, so that each program knows those of the others.

    docs/command_line.py [--check]

Takes braidc and the other tools from PATH.  `--check` changes nothing and fails when a
file is not what would be written.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE / "CommandLine.md"
NAMES = HERE.parent / "runtime" / "cli" / "ProgramOptions.h"
GRAPH = HERE.parent / "examples" / "mlp-by-hand" / "mlp.mlir"
INTRODUCTION = """# Command lines
Written by `docs/command_line.py` from the tables of options (`runtime/cli`), as is each program's `--help`. Options are written `--name=value` or `--name value`.
A program whose command line makes no sense ends with status 2, one that fails with 1. `braid-opt` has the options of `mlir-opt` and those of every pass: `braid-opt --help`.

"""

HEADER = """//===- ProgramOptions.h - the options of each program ---------------------===//
//
// Written by docs/command_line.py from the tables of options, the page of which is
// docs/CommandLine.md.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CLI_PROGRAMOPTIONS_H
#define BRAID_CLI_PROGRAMOPTIONS_H

#include <string_view>

namespace braid::cli {

struct ProgramOptions {
  std::string_view program; // a tool, or a command of training binaries
  bool isTool;
  std::string_view names; // between spaces
};

// clang-format off
inline constexpr ProgramOptions kProgramOptions[] = {
%s};
// clang-format on

} // namespace braid::cli
#endif // BRAID_CLI_PROGRAMOPTIONS_H
"""


def options_of(page):
    """The names of the options on the way from a model to its training, as (program, whether it is a tool, names)."""
    for title, body in re.findall(r"^## `(braid-model|braidc|\./train .+?)`\n(.*?)(?=^## |\Z)", page, re.M | re.S):
        names = re.findall(r"^\| `(-[-a-z0-9]+)", body, re.M)
        yield title.split()[-1], "./" not in title, [name for name in dict.fromkeys(names) if name not in ("--help", "--version")]


def header(page):
    rows = ""
    for program, is_tool, names in options_of(page):
        lines = textwrap.wrap(" ".join(names), 100, break_on_hyphens=False, break_long_words=False)
        literals = "\n".join(f'     "{line}{" " if line != lines[-1] else ""}"' for line in lines) or '     ""'
        rows += f'    {{"{program}", {"true" if is_tool else "false"},\n{literals}}},\n'
    return HEADER % rows


def page():
    def markdown(*command):
        return subprocess.run([*command, "--help=markdown"], check=True, capture_output=True, text=True).stdout

    tools = [markdown(name) for name in ("braid-model", "braid-import", "braidc")]
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
    for path, wanted in ((PAGE, text), (NAMES, header(text))):
        if not arguments.check:
            path.write_text(wanted)
        elif not path.exists() or path.read_text() != wanted:
            sys.exit(f"{path.relative_to(HERE.parent)} is not what the tools say: run docs/command_line.py")


if __name__ == "__main__":
    main()
