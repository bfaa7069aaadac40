"""A tokenizer of printing letters, some words and special tokens: letters.py FOLDER [NUMBER-OF-THE-FIRST-SPECIAL-ONE]"""

import json
import pathlib
import sys

folder = pathlib.Path(sys.argv[1])
folder.mkdir()
# As GPT-2's, which writes a space and a newline as letters that print.
words = [chr(code) for code in range(33, 127)] + ["\u0120", "\u010a", "quick", "\u0120brown", "\u0120fox"]
special = ["<|endoftext|>", "<|user|>", "<|assistant|>", "<|end|>"]
first = int(sys.argv[2]) if len(sys.argv) > 2 else 400
added = [{"id": first + number, "content": text, "special": True} for number, text in enumerate(special)]
description = {"model": {"type": "BPE", "vocab": {word: number for number, word in enumerate(words)}},
               "added_tokens": added, "decoder": {"type": "ByteLevel"}}
(folder / "tokenizer.json").write_text(json.dumps(description))
template = ("{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endfor %}"
            "{% if add_generation_prompt %}<|assistant|>{% endif %}")
config = {"eos_token": {"content": "<|endoftext|>"}, "chat_template": template}
(folder / "tokenizer_config.json").write_text(json.dumps(config))
