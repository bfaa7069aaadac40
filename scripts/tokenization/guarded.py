"""Reads JSON from users. Every error becomes a message."""

import json
import os
import re
import stat

MAX_DEPTH = 256
MAX_BYTES = 256 << 20  # of a file that is read whole
SURROGATE = re.compile("[\ud800-\udfff]")
# An unterminated string extends to the end of the text. Otherwise the failing match would be tried again from each
# quote.
STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?', re.DOTALL)


class Failure(Exception):
    """An error that a user can cause; its text is the message."""


def is_deep(text):
    """Returns whether more than MAX_DEPTH brackets are open somewhere."""
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return False
    depth = 0
    for bracket in re.findall(r"[\[\]{}]", STRING.sub("", text)):
        depth += 1 if bracket in "[{" else -1
        if depth > MAX_DEPTH:
            return True
    return False


def strings_of(value):
    pending = [value]
    while pending:
        value = pending.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, list):
            pending += value
        elif isinstance(value, dict):
            pending += [*value.keys(), *value.values()]


def is_text(string):
    """Returns whether a text is valid Unicode. JSON can also spell half of a surrogate pair."""
    return not SURROGATE.search(string)


def parse(text, place, remedy=""):
    """Parses a JSON text. Messages begin with `place`."""
    if is_deep(text):
        raise Failure(f"{place} nests more than {MAX_DEPTH} lists and objects in each other")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Failure(f"{place} is not JSON: {error}{remedy}") from None
    if "\\ud" in text or "\\uD" in text:
        for string in strings_of(value):
            if not is_text(string):
                raise Failure(f"{place} has {ascii(string[:40])} with half of a surrogate pair, which is no text; leave that "
                              "character out")
    return value


def read_text(path):
    """Returns the text of a regular file. Never waits for the writer of a pipe."""
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), encoding="utf-8") as file:
        info = os.fstat(file.fileno())
        if not stat.S_ISREG(info.st_mode):
            raise Failure(f"cannot read '{path}': it is not a regular file")
        if info.st_size > MAX_BYTES:
            raise Failure(f"cannot read '{path}': it has {info.st_size} bytes, above the limit of {MAX_BYTES}")
        try:
            return file.read()
        except UnicodeDecodeError as error:
            raise Failure(f"'{path}' is not text in UTF-8: {error}") from None


def read(path):
    """The value of a JSON file."""
    return parse(read_text(path), f"'{path}'")
