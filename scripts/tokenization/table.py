"""Finds the bytes that each token of a tokenizer stands for."""

import re

from .tokenizer import Failure


def byte_of_letter():
    """Returns the letters by which GPT-2's tokenizer writes bytes. Printable bytes are written as themselves."""
    printing = [*range(33, 127), *range(161, 173), *range(174, 256)]
    letters = {chr(byte): byte for byte in printing}
    for count, byte in enumerate(byte for byte in range(256) if byte not in printing):
        letters[chr(256 + count)] = byte
    return letters


def decoders_of(description):
    """The types of the steps of a tokenizer's decoder."""
    decoder = description.get("decoder") or {}
    steps = decoder.get("decoders", []) if decoder.get("type") == "Sequence" else [decoder]
    return {step.get("type") for step in steps}


def from_letters(text, letters):
    return b"".join(bytes([letters[c]]) if c in letters else c.encode() for c in text)


def from_pieces(text):
    """Decodes SentencePiece's form: a bar is a space, and <0x0A> is a byte."""
    byte = re.fullmatch(r"<0x([0-9A-Fa-f]{2})>", text)
    return bytes([int(byte[1], 16)]) if byte else text.replace("\u2581", " ").encode()


def table_of(tokenizer):
    """Returns the bytes of each token of the vocabulary, by its number."""
    kinds = decoders_of(tokenizer.description)
    if "ByteLevel" in kinds:
        letters = byte_of_letter()
        decode = lambda text: from_letters(text, letters)  # noqa: E731
    elif kinds & {"Metaspace", "ByteFallback", "Replace"}:
        decode = from_pieces
    elif kinds <= {None, "Fuse"}:
        decode = str.encode
    else:
        raise Failure(f"the tokenizer in '{tokenizer.folder}' decodes by {', '.join(sorted(filter(None, kinds)))}: its "
                      "tokens have no text of their own; leave the table out with --no-table")
    table = [b""] * tokenizer.vocabulary
    for text, token in tokenizer.library.get_vocab(with_added_tokens=True).items():
        table[token] = text.encode() if text in tokenizer.added else decode(text)
    return table
