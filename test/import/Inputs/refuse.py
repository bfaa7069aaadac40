#!/usr/bin/env python3
"""Checks the messages for programs that cannot be imported.

  refuse.py FILE WORKING-FOLDER

The file has programs, separated by lines `--- WORDS`, in the form of pt2.py. A line `refused: MESSAGE` stands below the
statement at whose file and line braid-import must report MESSAGE, alone, with status 1. `braid-import: MESSAGE` is a
message without a place. A line `options: OPTION...` gives options of braid-import; {source} stands for the
file and line of the statement above. `note`s of a message are not compared.
"""

import subprocess
import sys
from pathlib import Path

import pt2


def programs(lines):
    """Returns the number of the first line of each program, and its lines."""
    start = None
    for number, line in enumerate(lines, 1):
        if line.startswith("---"):
            if start:
                yield start, lines[start - 1:number - 1]
            start = number + 1
    yield start, lines[start - 1:]


def check(path, first, lines, target):
    """Returns what is wrong with a program's message, or nothing."""
    statements, wanted, options, last = [], None, [], 0
    for number, line in enumerate(lines, first):
        if line.startswith("refused: "):
            wanted = f"{path}:{last}: error: {line[len('refused: '):]}"
        elif line.startswith("braid-import: "):
            wanted = line.replace("{source}", f"{path}:{last}")
        elif line.startswith("options: "):
            options = line.split()[1:]
        else:
            last = number if not pt2.SKIPPED.match(line) else last
            statements.append(line)
            continue
        statements.append("")
    pt2.write(pt2.read(statements, path, first), target)
    done = subprocess.run(["braid-import", target, *options], capture_output=True, text=True, check=False)
    found = done.stderr.replace(f"{target}: ", "FILE: ").strip().split("\n")[0]
    if done.returncode != 1 or found != wanted:
        return f"{path}:{first}: status {done.returncode}\n  wanted {wanted}\n  found  {found}"
    return None


def main():
    path, folder = Path(sys.argv[1]), Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    count, problems = 0, []
    for first, lines in programs(path.read_text().splitlines()):
        count += 1
        problem = check(str(path), first, lines, str(folder / "program.pt2"))
        if problem:
            problems.append(problem)
    print("\n".join([*problems, f"{count} programs, {len(problems)} wrong"]))
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
