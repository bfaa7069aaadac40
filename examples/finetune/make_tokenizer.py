#!/usr/bin/env python3
"""make_tokenizer.py TEXT FOLDER: writes a byte-level tokenizer of 512 tokens, like the one in the folder model.

Needs the Python library `tokenizers`."""

import json
import pathlib
import sys

import tokenizers
from tokenizers import decoders, models, pre_tokenizers, trainers

VOCABULARY, END = 512, "<|endoftext|>"


def main():
    text, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    tokenizer = tokenizers.Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=VOCABULARY, special_tokens=[END], show_progress=False,
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    tokenizer.train([text], trainer)
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"), pretty=False)
    config = {"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": END, "model_max_length": 128,
              "clean_up_tokenization_spaces": False}
    (folder / "tokenizer_config.json").write_text(json.dumps(config, indent=2) + "\n")


if __name__ == "__main__":
    main()
