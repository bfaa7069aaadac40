#!/usr/bin/env python3
"""refuse.py TEXT COMMAND...

Runs the command and demands that it fails as a program should: with an exit
status of 1 or 2 (no signal), TEXT (a regular expression) in what it says, and
nothing of a crash."""

import re
import subprocess
import sys


def main():
    text, command = sys.argv[1], sys.argv[2:]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
    said = (done.stderr + done.stdout).decode(errors="replace")
    if done.returncode not in (1, 2):
        sys.exit(f"exit status {done.returncode}, not 1 or 2, of {' '.join(command)}\n{said}")
    if not re.search(text, said):
        sys.exit(f"nothing like '{text}' in what {' '.join(command)} says:\n{said}")
    if re.search(r"Stack dump|PLEASE submit|terminate called|Assertion", said):
        sys.exit(f"a crash of {' '.join(command)}:\n{said}")


if __name__ == "__main__":
    main()
