"""Writes token files (docs/Data.md)."""

import array
import os
import struct
import sys

HAS_MASK = 1
NO_TOKEN = 0xFFFFFFFF


def little_endian(numbers):
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()


class Writer:
    """Writes ids as they come, then the parts that are known only at the end. The file gets its name when it is
    complete."""

    def __init__(self, path, vocabulary):
        self.path, self.vocabulary = path, vocabulary
        self.type = "H" if vocabulary <= 1 << 16 else "I"
        self.temporary = f"{path}.{os.getpid()}.tmp"
        self.file = self._create()
        self.file.write(bytes(64))
        self.count = 0
        self.documents = array.array("Q")
        self.counting = bytearray()  # a byte for each token: whether it counts as a target
        self.masked = False

    def _create(self):
        """No other user can open the file until it has its name; a link of that name is not followed."""
        if os.path.lexists(self.temporary):
            os.remove(self.temporary)  # of a process of the same number that was killed
        return open(os.open(self.temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600), "wb")

    def add(self, ids, counts=None):
        """Adds tokens of the current document, and for each whether it counts as a target; None if all count."""
        self.file.write(little_endian(array.array(self.type, ids)))
        if counts and not all(counts) and not self.masked:
            self.masked = True
            self.counting = bytearray(b"\1") * self.count
        if self.masked:
            self.counting += bytes(counts or b"\1" * len(ids))
        self.count += len(ids)

    def begin_document(self):
        if not self.documents or self.documents[-1] != self.count:
            self.documents.append(self.count)

    def _section(self, data):
        self.file.write(bytes(-self.file.tell() % 8))
        self.file.write(data)

    def _mask(self):
        padded = self.counting + bytes(-len(self.counting) % 8)
        return bytes(sum(padded[at + bit] << bit for bit in range(8)) for at in range(0, len(padded), 8))

    def finish(self, end_of_text, table):
        """Completes the file with the table of the tokens' bytes, or None."""
        while self.documents and self.documents[-1] == self.count:
            self.documents.pop()
        text = b"".join(table or [])
        if self.masked:
            self._section(self._mask())
        if self.documents:
            self._section(little_endian(self.documents[:]))
        if text:
            places = array.array("I", [0])
            for token in table:
                places.append(places[-1] + len(token))
            self._section(little_endian(places))
            self._section(text)
        self.file.seek(0)
        self.file.write(struct.pack("<8sIIQQQQIIQ", b"BRAIDTOK", 2, array.array(self.type).itemsize, self.count,
                                    self.vocabulary, len(self.documents), len(text), HAS_MASK if self.masked else 0,
                                    NO_TOKEN if end_of_text is None else end_of_text, 0))
        os.fchmod(self.file.fileno(), 0o666 & ~self._umask())
        self.file.close()
        os.replace(self.temporary, self.path)

    @staticmethod
    def _umask():
        mask = os.umask(0o077)
        os.umask(mask)
        return mask

    def abandon(self):
        self.file.close()
        if os.path.exists(self.temporary):
            os.remove(self.temporary)
