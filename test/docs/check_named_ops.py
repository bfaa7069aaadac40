#!/usr/bin/env python3
"""Checks the table of docs/Design.md that says which passes match which ops of tg, and
why: a cast to an op that it does not list is an error, and so is a row without a cast.

    check_named_ops.py ROOT
"""

import pathlib
import re
import sys

FOLDERS = ["passes", "compiler/Driver"]
MADE = re.compile(r"\b(create|createOrFold|make|replaceOpWithNewOp)<(tg::)?\w+>")
NAMED = re.compile(r"(?<![\w:])(tg::)?(\w+)Op\b")
ROW = re.compile(r"^\| `(\w[\w/]*)` \| ((?:`\w+`(?:, )?)+) \| .+ \|$", re.M)


def ops(root):
    """The mnemonics of tg's ops, by the names of their classes."""
    text = "".join(path.read_text() for path in sorted((root / "dialects/TG").glob("*.td")))
    return dict(re.findall(r'\bdef TG_(\w+)Op : \w+<"(\w+)"', text))


def named_in(text, known):
    bare = {name for name in re.findall(r"using tg::(\w+)Op;", text)}
    if "using namespace braid::tg;" in text:
        bare = set(known)
    code = re.sub(r"//.*|^using .*", "", text, flags=re.M)
    return {known[name] for space, name in NAMED.findall(MADE.sub("", code)) if name in known and (space or name in bare)}


def main():
    root = pathlib.Path(sys.argv[1])
    known, found = ops(root), {}
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in (".h", ".cpp"):
                found.setdefault(path.relative_to(root).with_suffix("").as_posix(), set()).update(
                    named_in(path.read_text(), known))
    found = {path: names for path, names in found.items() if names}
    section = (root / "docs/Design.md").read_text().split("## Ops that passes name")[1].split("\n## ")[0]
    table = {path: set(re.findall(r"`(\w+)`", names)) for path, names in ROW.findall(section)}
    problems = []
    for path in sorted(found.keys() | table.keys()):
        code, row = found.get(path, set()), table.get(path, set())
        problems += [f"{path} names tg.{name}: ask an interface, or say why in docs/Design.md" for name in sorted(code - row)]
        problems += [f"docs/Design.md: {path} does not name tg.{name}" for name in sorted(row - code)]
    print("\n".join([*problems, f"{len(found)} files name ops, {len(problems)} problems"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
