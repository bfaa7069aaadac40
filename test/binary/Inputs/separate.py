"""Separates a text, in pieces of any size, as str.split does: separate.py FILE"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "scripts"))
from tokenization import documents  # noqa: E402

TEXT = "a\nb\n==\nc==\n====\n\nd\n=e\n=\n==\nfgh\ni\nj\n==\n"
path = pathlib.Path(sys.argv[1])
path.write_text(TEXT)
count = 0
for separator in ("==", "\n==", "\n", "==\n", "=", "\n=\n==\n", "none"):
    expected = [text for text in TEXT.split(separator) if text]
    for documents.PIECE in range(1, 30):
        found = list(map("".join, documents.text_documents(path, separator)))
        assert found == expected, (separator, documents.PIECE, found, expected)
        count += 1
print(count, "ways")
