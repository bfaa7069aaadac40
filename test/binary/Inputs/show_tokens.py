"""Prints a token file by docs/Data.md: show_tokens.py FILE"""

import struct
import sys


def main():
    with open(sys.argv[1], "rb") as file:
        data = file.read()
    magic, version, width, count, vocabulary, documents, text_bytes, flags, end, zero = struct.unpack("<8sIIQQQQIIQ",
                                                                                                  data[:64])
    assert magic == b"BRAIDTOK" and version == 2 and zero == 0
    place = 64

    def section(size):
        nonlocal place
        place = (place + 7) // 8 * 8 + size
        return data[place - size:place]

    ids = struct.unpack(f"<{count}{'H' if width == 2 else 'I'}", section(count * width))
    mask = section((count + 7) // 8) if flags & 1 else None
    starts = struct.unpack(f"<{documents}Q", section(8 * documents)) if documents else ()
    offsets = struct.unpack(f"<{vocabulary + 1}I", section(4 * (vocabulary + 1))) if text_bytes else None
    text = section(text_bytes)
    assert place == len(data), (place, len(data))
    print(f"{count} tokens of {width} bytes, vocabulary {vocabulary}, end {end}, documents at", *starts)
    shown = [text[offsets[i]:offsets[i + 1]].decode() if text else str(i) for i in ids]
    print(*(repr(token) if not mask or mask[i // 8] >> i % 8 & 1 else f"({token!r})" for i, token in enumerate(shown)))


if __name__ == "__main__":
    main()
