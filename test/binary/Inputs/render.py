"""Prints what a template writes of conversations, and below it what counts: render.py TOKENIZER TEMPLATE FILE"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "scripts"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "library"))
sys.dont_write_bytecode = True
from tokenization import chat, documents, tokenizer  # noqa: E402

made = chat.Chat(tokenizer.Tokenizer(sys.argv[1]), sys.argv[2])
for line, place in documents.json_lines(sys.argv[3]):
    if "messages" in line:
        text, ranges = made.text(documents.conversation_of(line, place), place)
        print(text)
        for start, end in ranges:
            print(start, text[start:end])
