"""The documents of text files and of JSON lines: parts of text, each with whether the loss counts it."""

import json
import re

from .tokenizer import Failure

PIECE = 1 << 20  # characters that are encoded at a time
# Between lines that no blank line or indent separates: a tokenizer takes the newline there alone.
CUT = re.compile(r"(?<=\S\n)(?=\S)")


def decoded(file, read):
    """What `read` gives, until it gives nothing."""
    try:
        while block := read():
            yield block
    except UnicodeDecodeError as error:
        raise Failure(f"'{file.name}' is not text in UTF-8: {error}; convert it") from None


def pieces_of(file):
    """A text of any length in pieces of about a megabyte."""
    text = ""
    for block in decoded(file, lambda: file.read(PIECE)):
        text += block
        if len(text) < PIECE:
            continue
        cuts = [cut.start() for cut in CUT.finditer(text)]
        if cuts:
            yield text[:cuts[-1]]
            text = text[cuts[-1]:]
    if text:
        yield text


def separated(pieces, separator):
    """Lists of pieces, one for each document."""
    text = ""
    for piece in pieces:
        *whole, text = (text + piece).split(separator)
        yield from ([document] for document in whole if document)
    if text:
        yield [text]


def text_documents(path, separator):
    """Iterables of pieces of text."""
    with open(path, encoding="utf-8", newline="") as file:
        yield from separated(pieces_of(file), separator) if separator else [pieces_of(file)]


def json_lines(path):
    """Objects with the place that they are from."""
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(decoded(file, file.readline), 1):
            place = f"'{path}' line {number}"
            if not line.strip():
                continue
            try:
                value = json.loads(line)
            except ValueError as error:
                raise Failure(f"{place} is not JSON: {error}") from None
            if not isinstance(value, dict):
                raise Failure(f"{place} is not a JSON object")
            yield value, place


def messages_of(value, place):
    messages = value["messages"]
    if not isinstance(messages, list) or not all(
            isinstance(each, dict) and isinstance(each.get("role"), str) for each in messages):
        raise Failure(f"{place}: 'messages' is not a list of objects with a 'role' and a 'content'")
    return messages
