#!/usr/bin/env python3
"""Writes the rule of every op into Sharding.md, between two markers: the examples of sharding_rules.mlir with the
compiler's output for them (tg-print-sharding-rules, which also checks that no registered op with a rule is left out).

    docs/sharding_rules.py [--braid-opt PATH] [--check]

`--check` changes nothing and fails when the page is not what would be written.
"""

import argparse
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
PAGE, EXAMPLES = HERE / "Sharding.md", HERE / "sharding_rules.mlir"
BEGIN = "<!-- The rule of every op: written by docs/sharding_rules.py -->"
END = "<!-- End of what docs/sharding_rules.py writes -->"
INTRODUCTION = (
    "`flat` ops also run on flat ranges, including their padding (`flat unpadded` ones where the ranks divide every tensor, so that there is none); an op with `decomposed` factors does so in its "
    "decomposition. Along a factor that is both `whole` and `decomposed` the op mixes values; along one that is only "
    "`decomposed` it does not. The numbers after `linear` are operands; in `{0 1}` the op is linear in both together.")
REMARK = re.compile(r"^.*?:(\d+):\d+: remark: [\w.]+: (.*)$", re.M)
SECTION = re.compile(r"^// (.*(?:\n// .*)*)\n(?=func\.func)", re.M)


def rules(braid_opt):
    """The rule of each op of the examples, by line."""
    run = subprocess.run([braid_opt, EXAMPLES, "--tg-print-sharding-rules=complete", "-o", "/dev/null"],
                         capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"{run.stderr}\nsharding_rules.py: add an example of the op to {EXAMPLES}")
    return {int(line): rule for line, rule in REMARK.findall(run.stderr)}


def section(braid_opt):
    """The text between the markers: a table under each comment of the examples."""
    text, found = EXAMPLES.read_text(), rules(braid_opt)
    lines = text.split("\n")
    titles = {text[:match.start()].count("\n") + 1: match[1].replace("\n// ", " ") for match in SECTION.finditer(text)}
    out = [BEGIN, "## The rule of every op", INTRODUCTION]
    example = None
    for number, line in enumerate(lines, 1):
        if number in titles:
            out += ["", titles[number], "", "| op | rule |", "|---|---|"]
        if number in found:
            example = number
        elif line.startswith("  return"):
            # The ops before the last one make its operands.
            op = lines[example - 1].partition(" = ")[2].partition(" : ")[0]
            out.append(f"| `{op}` | `{found[example]}` |")
    return "\n".join(out + [END])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--braid-opt", default="braid-opt", metavar="PATH")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    page = PAGE.read_text()
    before, begin, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    written = (before if begin else page.rstrip("\n") + "\n\n") + section(arguments.braid_opt) + (after or "\n")
    if not arguments.check:
        PAGE.write_text(written)
    elif written != page:
        sys.exit(f"{PAGE} is not what the compiler says: run docs/sharding_rules.py")


if __name__ == "__main__":
    main()
