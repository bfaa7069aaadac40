#!/usr/bin/env python3
"""Checks that docs/Passes.md describes every pass, and lists it where it belongs.

    check_pass_sections.py ROOT

Passes are those of passes/**/*.td and those that braid-opt registers for our dialects. Each needs a section with
IR. A pass whose constructor passes/Pipelines calls must not stand under "Run by hand".
"""

import pathlib
import re
import subprocess
import sys

DEFINED = re.compile(r'^def (\w+) : \w*Pass<"([\w-]+)"', re.M)
REGISTERED = re.compile(r"^ {6}--((?:tg|comm|exec)-[\w-]+)", re.M)
SECTION = re.compile(r"^### `([\w-]+)`\n(.*?)(?=^### |\Z)", re.M | re.S)
BY_HAND = re.compile(r"^## Run by hand\n(.*?)^## ", re.M | re.S)


def registered():
    text = subprocess.run(["braid-opt", "--help"], capture_output=True, text=True, check=True).stdout
    return set(REGISTERED.findall(text.split("\n    Passes:\n")[1].split("\n    Pass Pipelines:\n")[0]))


def main():
    root = pathlib.Path(sys.argv[1])
    constructors = {name: f"create{definition}" for path in root.glob("passes/**/*.td")
                    for definition, name in DEFINED.findall(path.read_text())}
    pipelines = "".join(path.read_text() for path in sorted(root.glob("passes/Pipelines/*.cpp")))
    page = (root / "docs/Passes.md").read_text()
    sections = dict(SECTION.findall(page))
    by_hand = set(re.findall(r"^\| \[`([\w-]+)`\]", BY_HAND.search(page)[1], re.M))
    problems = []
    names = sorted(constructors.keys() | registered())
    for name in names:
        if name not in sections:
            problems.append(f"{name}: docs/Passes.md has no section on it; run docs/reference.py")
        elif "```mlir\n" not in sections[name]:
            problems.append(f"{name}: its section in docs/Passes.md shows no IR; add Input: and Output: to its Passes.td")
        if name in by_hand and name in constructors and re.search(rf"\b{constructors[name]}\(", pipelines):
            problems.append(f"{name}: 'Run by hand' lists it, but passes/Pipelines runs it; add flags that bring it "
                            "to CASES in docs/reference.py")
    print("\n".join([*problems, f"{len(names)} passes, {len(problems)} problems"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
