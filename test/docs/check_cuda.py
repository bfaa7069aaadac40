#!/usr/bin/env python3
"""Checks docs/CUDA.md: check_cuda.py PAGE.md

`<!-- FILE of FLAGS -->` stands before an excerpt of what braidc writes to FILE for the
small GPT with these flags.  Lines `…` stand for what is left out; what lies between
them is found in the file, in this order, to the letter but for places in the arena.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

EXCERPT = re.compile(r"<!-- (\S+) of( .*?)? -->\n```\w*\n(.*?)```", re.S)


def run(*command):
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} fails:\n{result.stderr}")


def without_places(text):
    return re.sub(r"\b\d{4,}\b", "PLACE", re.sub(r"\s+", " ", text))


def check(text, excerpt, where):
    text, at = without_places(text), 0
    for part in re.split(r"^\s*…\n", excerpt, flags=re.M):
        part = without_places(part)
        found = text.find(part, at)
        if found < 0:
            print(f"{where}: not written, at its place:\n{part}")
            return False
        at = found + len(part)
    return True


def main():
    page = pathlib.Path(sys.argv[1]).read_text()
    excerpts = EXCERPT.findall(page)
    if len(excerpts) < 5:
        sys.exit(f"{sys.argv[1]} has {len(excerpts)} excerpts; has their form changed?")
    good = True
    with tempfile.TemporaryDirectory() as name:
        folder, written = pathlib.Path(name), {}
        run("braid-model", "--preset=gpt-small", "--batch", 8, "--seq", 64, "-o", folder / "gpt.mlir")
        for file, flags, excerpt in excerpts:
            if flags not in written:
                written[flags] = folder / str(len(written))
                run("braidc", folder / "gpt.mlir", "--emit=cu", "-o", written[flags], *flags.split())
            good &= check((written[flags] / file).read_text(), excerpt, f"{file} of{flags}")
    sys.exit(0 if good else 1)


main()
