"""Checks on docs/CommandLine.md that one name has one meaning for braidc and for training binaries: an option that
both have stands in the list of those that are about the same thing."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "docs"))
import command_line  # noqa: E402

SAME = {"--link"}  # a latency and a rate: assumed by the one, imitated by the other

compiler, binary = set(), set()
for program, is_tool, names in command_line.options_of(command_line.PAGE.read_text()):
    if program == "braidc":
        compiler.update(names)
    elif not is_tool:
        binary.update(names)
both = (compiler & binary) - SAME
if both or not compiler or not binary:
    sys.exit(f"options of braidc and of training binaries that share a name: {sorted(both)}")
