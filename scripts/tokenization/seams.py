"""Encodes a long text in windows. The tokens are those of the whole text, whatever happens at ends.

Neighbouring windows share characters. Where their tokens agree for some length, one window continues the other."""

import bisect

from .guarded import Failure

OVERLAP = 1 << 12  # characters that two windows share at first
MAX_WHOLE = 8 << 20  # characters that are encoded at once where there is no seam


class Window:
    def __init__(self, text, encode):
        encoding = encode(text)
        self.text, self.ids, offsets = text, encoding.ids, encoding.offsets
        # Tokens before and after a text stand for no characters; those after it are the last ones.
        self.starts, highest = [], 0
        for start, end in offsets:
            highest = max(highest, start if end else highest)
            self.starts.append(highest)

    def index(self, place):
        """Returns the index of the first token that begins at a character or behind it."""
        return bisect.bisect_left(self.starts, place)

    def between(self, low, high, shift=0):
        first, last = self.index(low - shift), self.index(high - shift)
        return [(token, start + shift) for token, start in zip(self.ids[first:last], self.starts[first:last])]


def seam(one, other, shift, low):
    """Returns the character where the next window, which begins at `shift`, can continue this one; or None."""
    quarter = (len(one.text) - shift) // 4
    first, last = max(shift + quarter, low), len(one.text) - quarter
    tokens = one.between(first, last)
    if len(tokens) < 2 or tokens != other.between(first, last, shift):
        return None
    return tokens[len(tokens) // 2][1]


def joined(one, piece, low, encode, place):
    """Returns (the next window, the place of the seam in this window, its place in the next one)."""
    overlap = OVERLAP
    while overlap < len(one.text):
        shift = len(one.text) - overlap
        other = Window(one.text[shift:] + piece, encode)
        at = seam(one, other, shift, low)
        if at is not None:
            return other, at, at - shift
        overlap *= 16
    other = Window(one.text + piece, encode) if len(one.text) < MAX_WHOLE else None
    if not other or (low and low not in other.starts):
        raise Failure(f"{place}: a document goes on for {len(one.text):,} characters or more without a place where its "
                      "tokens can be divided; give shorter documents")
    return other, low, low


def ids_of(pieces, encode, place="the text"):
    """Yields lists of ids. Together they are the ids of encode() on all pieces joined."""
    window, low = Window("", encode), 0
    for piece in pieces:
        behind, end, begin = joined(window, piece, low, encode, place)
        yield window.ids[window.index(low) if low else 0:window.index(end) if end else 0]
        window, low = behind, begin
    yield window.ids[window.index(low) if low else 0:]
