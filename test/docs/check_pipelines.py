#!/usr/bin/env python3
"""Compares the formulas of docs/Pipelines.md with what braid-schedule computes: check_pipelines.py PAGE.md

Behind `<!-- formulas -->` stands the table; a row says from how many microbatches on its formulas hold. Each is
computed for several numbers of ranks, of chunks where a rank has v, and of microbatches, the least number first.
"""

import pathlib
import re
import subprocess
import sys

ROW = re.compile(r"^\| `([\w-]+)` \| (\w) \| `([^`]+)` \| `([^`]+)` \| m ≥ ([\dp-]+)(, a multiple of p)? \|$", re.M)


def value(formula, **numbers):
    if not re.fullmatch(r"[pmv0-9+*/() -]+", formula):
        sys.exit(f"'{formula}' is no formula")
    return eval(formula, {"__builtins__": {}}, numbers)  # of letters and arithmetic only


def figures(name, p, m, v):
    """The bubble in percent and the peak, as the tool prints them."""
    command = ["braid-schedule", f"--schedule={name}", f"--stages={p}", f"--microbatches={m}", f"--chunks={v}"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return re.search(r"^bubble +([\d.]+) %", text, re.M).group(1), re.search(r"^peak +([\d.]+) ", text, re.M).group(1)


def main():
    page = pathlib.Path(sys.argv[1]).read_text().split("<!-- formulas -->")[1]
    checks, wrong = 0, 0
    for name, chunks, bubble, peak, least, _ in ROW.findall(page):
        for p in (2, 3, 8):
            for v in (2, 3) if chunks == "v" else (int(chunks),):
                first = value(re.sub(r"(\d)p", r"\1*p", least), p=p)
                for m in (first, 4 * p):
                    wanted = f"{100 * value(bubble, p=p, m=m, v=v):.2f}", f"{value(peak, p=p, m=m, v=v):.4g}"
                    printed = figures(name, p, m, v)
                    checks += 1
                    if printed != wanted:
                        wrong += 1
                        print(f"{name}, p = {p}, m = {m}, v = {v}: the page says {wanted}, the tool {printed}")
    print(f"{checks} checks, {wrong} wrong")
    return 1 if wrong or checks < 30 else 0


if __name__ == "__main__":
    sys.exit(main())
