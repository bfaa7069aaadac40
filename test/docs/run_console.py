#!/usr/bin/env python3
"""Runs the console blocks of a page, and compares what they show.

  run_console.py PAGE.md --root CHECKOUT --work FOLDER

Every line behind "$ " is run, one after the other, in one folder that looks like a checkout.  The lines below
it must be what it prints: a line `…` stands for any lines, `…` in a line for any text, and runs of blanks count as
one.  A command whose program is not installed is skipped, and said.  Above a block, comments change how it is run:

  <!-- not run: REASON -->
  <!-- needs: MODULE -->        of Python: not run where it is missing
  <!-- run as: TEXT => TEXT; TEXT => TEXT -->    smaller, or without what a test has not; each TEXT must be there
  <!-- numbers: REASON -->      any number may be printed where one is shown
  <!-- file: NAME -->           above a block of another language: it is written to that file

The last line is the number of commands that were run and skipped; the exit status is 1 if one fails, prints
something else, or none was run.
"""

import argparse
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

BLOCK = re.compile(r"((?:^<!--[^\n]*-->\n)*)^```(\w+)\n(.*?)^```", re.S | re.M)
DIRECTIVE = re.compile(r"<!-- (not run|needs|run as|numbers|file): (.*?) -->")
NUMBER = r"\d[\d,.]*(?:e[-+]\d+)?k?"
SECONDS = 300


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", type=pathlib.Path)
    parser.add_argument("--root", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    return parser.parse_args()


def make_folder(work, root):
    """The files of a checkout without its build, so that what a command writes is not in the checkout."""
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    for entry in root.iterdir():
        if entry.name not in ("build", ".git"):
            (work / entry.name).symlink_to(entry.resolve())


def commands_of(text):
    """Each command with the lines that it should print."""
    commands = []
    for line in text.splitlines():
        if line.startswith("$ "):
            commands.append((line[2:], []))
        elif commands and commands[-1][0].endswith("\\") and not commands[-1][1]:
            commands[-1] = (commands[-1][0][:-1] + line, [])
        elif commands:
            commands[-1][1].append(line)
        else:
            sys.exit(f"a console block begins with what is no command: {line}")
    return commands


def pattern_of_text(text, any_numbers):
    if any_numbers:
        return NUMBER.join(pattern_of_text(part, False) for part in re.split(NUMBER, text))
    return "".join(" ?" if part.isspace() else re.escape(part) for part in re.split(r"(\s+)", text))


def pattern_of(lines, any_numbers):
    """A line `…` matches any lines, among them none."""
    parts = [r"(?:[^\n]*\n)*" if line.strip() == "…" else
             "[^\n]*".join(pattern_of_text(part, any_numbers) for part in line.strip().split("…")) + r" ?\n"
             for line in lines]
    return re.compile("".join(parts))


def prints(lines, output, any_numbers):
    """Without a line `…` at the end, the page must show the whole output."""
    text = "".join(" ".join(line.split()) + "\n" for line in output.replace("\r", "\n").splitlines())
    return pattern_of(lines, any_numbers).fullmatch(text)


def shortened(output):
    """The last lines of it."""
    return "\n".join(line[:200] for line in output.splitlines()[-20:])


def has_module(name):
    return subprocess.run(["python3", "-c", f"import {name}"], stderr=subprocess.DEVNULL, check=False).returncode == 0


class Page:
    def __init__(self, arguments):
        self.arguments = arguments
        self.ran, self.skipped, self.failed = 0, 0, 0

    def program_is_missing(self, command):
        words = shlex.split(command, comments=True)
        return words and not shutil.which(words[0], path=os.environ["PATH"]) and not (self.arguments.work / words[0]).exists()

    def run(self, command, shown, any_numbers):
        if self.program_is_missing(command):
            print(f"skipped, {command.split()[0]} is not here: {command}")
            self.skipped += 1
            return
        done = subprocess.run(["bash", "-c", command], cwd=self.arguments.work, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                              timeout=SECONDS, check=False)
        self.ran += 1
        if done.returncode:
            self.failed += 1
            print(f"failed with status {done.returncode}: {command}\n{shortened(done.stdout)}")
        elif shown and not prints(shown, done.stdout, any_numbers):
            self.failed += 1
            print(f"does not print what the page shows: {command}\n--- shown\n" + "\n".join(shown) + f"\n--- printed\n{shortened(done.stdout)}")

    def change(self, text, changes):
        for change in changes.split("; "):
            before, after = change.split(" => ")
            if before not in text:
                sys.exit(f"{self.arguments.page}: the comment 'run as' names what the block does not have: {before}")
            text = text.replace(before, after)
        return text

    def run_block(self, comments, language, text):
        any_numbers = False
        for kind, rest in DIRECTIVE.findall(comments):
            if kind == "file":
                (self.arguments.work / rest).write_text(text)
            elif kind == "run as":
                text = self.change(text, rest)
            elif kind == "numbers":
                any_numbers = True
            elif kind == "not run" or not has_module(rest):
                count = len(commands_of(text))
                print(f"{kind}, {rest}: {count} commands")
                self.skipped += count
                return
        for command, shown in commands_of(text) if language == "console" else []:
            self.run(command, shown, any_numbers)


def main():
    arguments = parse_arguments()
    make_folder(arguments.work, arguments.root)
    page = Page(arguments)
    for block in BLOCK.findall(arguments.page.read_text()):
        page.run_block(*block)
    print(f"{arguments.page.name}: {page.ran} commands run, {page.skipped} skipped, {page.failed} wrong")
    sys.exit(1 if page.failed or not page.ran else 0)


if __name__ == "__main__":
    main()
