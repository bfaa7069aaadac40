"""Reads the documents of text files and of JSON lines: texts and conversations."""

import dataclasses
import io
import os
import stat

from . import guarded
from .guarded import Failure

PIECE = 1 << 20  # characters that are encoded at a time
MOST_HEADER = 100 << 20  # bytes of the header of a safetensors file


@dataclasses.dataclass
class Conversation:
    messages: list
    tools: list = None  # descriptions of functions, for the template
    documents: list = None
    variables: dict = dataclasses.field(default_factory=dict)  # others of the template's


def kind_of(start):
    """Returns the format of a file that is not text, by its first bytes; None if these do not show it."""
    if start.startswith(b"BRAIDTOK"):
        return "a token file already"
    if len(start) > 8 and start[8:9] == b"{" and int.from_bytes(start[:8], "little") <= MOST_HEADER:
        return "a safetensors file"
    return None


def opened(path, newline=None):
    """Opens a text file, or a pipe, to read it once from beginning to end."""
    file = open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK))
    os.set_blocking(file.fileno(), True)
    start = file.peek(16)
    if not start and stat.S_ISFIFO(os.fstat(file.fileno()).st_mode):
        raise Failure(f"'{path}' is a pipe to which nothing is written; start what writes to it first")
    if kind := kind_of(start):
        raise Failure(f"'{path}' is {kind}, but text is wanted")
    text = io.TextIOWrapper(file, encoding="utf-8", newline=newline)
    text.path = path
    return text


def decoded(file, read):
    """Yields the results of `read` until one is empty."""
    try:
        while block := read():
            if "\0" in block:
                raise Failure(f"'{file.path}' has a NUL, so it is not text; give the text that it was made of")
            yield block
    except UnicodeDecodeError as error:
        raise Failure(f"'{file.path}' is not text in UTF-8: {error}; convert it") from None


def pieces_of(file):
    """Yields a text of any length in pieces of about a megabyte."""
    return decoded(file, lambda: file.read(PIECE))


def lies_across(separator, one, next_one):
    """Returns whether the separator may begin in a piece and end behind it."""
    end = one[1 - len(separator):]
    return len(one) < len(separator) or 0 <= (end + next_one).find(separator) < len(end)


def separated(pieces, separator):
    """Yields a list of pieces for each document."""
    document = []
    for piece in pieces:
        while document and len(separator) > 1 and lies_across(separator, document[-1], piece):
            piece = document.pop() + piece
        first, *others = piece.split(separator)
        document.append(first)
        for other in others:
            yield from [document] if any(document) else []
            document = [other]
    if any(document):
        yield document


def text_documents(path, separator):
    """Iterables of pieces of text."""
    with opened(path, newline="") as file:
        yield from separated(pieces_of(file), separator) if separator else [pieces_of(file)]


def json_lines(path):
    """Yields objects with their places in the file."""
    with opened(path) as file:
        for number, line in enumerate(decoded(file, file.readline), 1):
            place = f"'{path}' line {number}"
            if not line.strip():
                continue
            value = guarded.parse(line, place, "; there must be an object on each line")
            if not isinstance(value, dict):
                raise Failure(f"{place} is not a JSON object; there must be one on each line")
            yield value, place


def objects_of(value, key, place):
    """A list of objects, which may be absent or written as a text in JSON; else None."""
    found = value.get(key)
    if isinstance(found, str):
        found = guarded.parse(found, f"{place}: '{key}'")
    if found is not None and not (isinstance(found, list) and all(isinstance(each, dict) for each in found)):
        raise Failure(f"{place}: '{key}' is not a list of objects")
    return found


def as_templates_want(message):
    """Returns a message as templates get it: without nulls, and with the reasoning under both its names."""
    message = {key: value for key, value in message.items() if value is not None}
    thought = next((message[name] for name in ("reasoning_content", "thinking", "reasoning") if name in message), None)
    return message if thought is None else {"thinking": thought, **message, "reasoning_content": thought}


def conversation_of(value, place):
    messages = value["messages"]
    if not isinstance(messages, list) or not all(
            isinstance(each, dict) and isinstance(each.get("role"), str) for each in messages):
        raise Failure(f"{place}: 'messages' is not a list of objects with a 'role' and a 'content'")
    if not messages:
        raise Failure(f"{place}: 'messages' is empty")
    variables = value.get("chat_template_kwargs") or {}
    if not isinstance(variables, dict):
        raise Failure(f"{place}: 'chat_template_kwargs' is not an object")
    messages = list(map(as_templates_want, messages))
    return Conversation(messages, objects_of(value, "tools", place), objects_of(value, "documents", place), variables)
