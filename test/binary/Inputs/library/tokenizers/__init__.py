"""What scripts/tokenize and docs/Cookbook.md need of the library `tokenizers`, for tests and texts in ASCII:
a byte-level tokenizer that merges pairs or, where it has no merges, takes the longest token that fits."""

import json
import re
import types

# GPT-2's words, of ASCII.
WORD = re.compile(r"'(?:[sdmt]|ll|ve|re)| ?[A-Za-z]+| ?[0-9]+| ?[^\sA-Za-z0-9]+|\s+(?!\S)|\s+")
# How bytes that do not print are written.
LETTERS = {ord(" "): "\u0120", ord("\n"): "\u010a"}


class ByteLevelBPETokenizer:
    """Learns letters alone, however many tokens it may have."""

    def train(self, file, vocab_size, special_tokens):
        with open(file, encoding="utf-8") as text:
            letters = {*text.read().translate(LETTERS), *map(chr, range(33, 127))}
        self.tokens = {token: number for number, token in enumerate([*special_tokens, *sorted(letters)])}
        assert len(self.tokens) <= vocab_size
        self.special = special_tokens

    def save(self, path):
        added = [{"id": self.tokens[token], "content": token, "special": True} for token in self.special]
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"model": {"type": "BPE", "vocab": self.tokens}, "added_tokens": added,
                       "decoder": {"type": "ByteLevel"}}, file)


class Tokenizer:
    @classmethod
    def from_file(cls, path):
        tokenizer = cls()
        with open(path, encoding="utf-8") as file:
            description = json.load(file)
        tokenizer.special = {added["content"]: added["id"] for added in description["added_tokens"]}
        tokenizer.tokens = {**description["model"]["vocab"], **tokenizer.special}
        merges = description["model"].get("merges", [])
        tokenizer.ranks = {tuple(pair): rank for rank, pair in enumerate(merges)}
        tokenizer.encode_special_tokens = False
        return tokenizer

    def get_vocab(self, with_added_tokens):
        return dict(self.tokens)

    def token_to_id(self, text):
        return self.tokens.get(text)

    def no_truncation(self):
        pass

    no_padding = no_truncation

    def _merged(self, word):
        """The word's parts, after the merges in their order."""
        parts = list(word)
        while True:
            pairs = [pair for pair in zip(parts, parts[1:]) if pair in self.ranks]
            if not pairs:
                return parts
            first, second = min(pairs, key=self.ranks.get)
            at = 0
            while at + 1 < len(parts):
                if parts[at:at + 2] == [first, second]:
                    parts[at:at + 2] = [first + second]
                at += 1

    def _longest(self, text):
        usable = [token for token in self.tokens if not (self.encode_special_tokens and token in self.special)]
        at = 0
        while at < len(text):
            token = max((token for token in usable if text.startswith(token, at)), key=len)
            at += len(token)
            yield token

    def _encode(self, text):
        if not self.ranks:
            return [self.tokens[token] for token in self._longest(text.translate(LETTERS))]
        return [self.tokens[part] for word in WORD.findall(text) for part in self._merged(word.translate(LETTERS))]

    def encode_batch(self, texts, add_special_tokens):
        return [types.SimpleNamespace(ids=self._encode(text)) for text in texts]
