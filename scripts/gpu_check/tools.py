"""Running programs, and reading what they write."""

import json
import os
import pathlib
import subprocess


class Failed(Exception):
    """A command that ended with an error: its words and the end of what it said."""


def run(words, **options):
    words = [str(word) for word in words]
    try:
        process = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                                 **options)
    except OSError as error:
        raise Failed(f"cannot run {words[0]}: {error.strerror}") from error
    except subprocess.TimeoutExpired as error:
        raise Failed(f"'{' '.join(words)}' has not ended after {error.timeout} seconds") from error
    if process.returncode != 0:
        raise Failed(f"'{' '.join(words)}' ended with status {process.returncode}\n{process.stdout[-2000:]}")
    return process.stdout


def read_lines(path):
    return [json.loads(line) for line in pathlib.Path(path).read_text().splitlines()]


def losses(path):
    return [line["loss"] for line in read_lines(path) if "loss" in line]


def write_atomically(path, text):
    """A file is either whole or not there."""
    partial = path.with_name(path.name + ".partial")
    with open(partial, "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    partial.rename(path)
