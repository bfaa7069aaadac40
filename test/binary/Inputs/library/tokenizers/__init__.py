"""What scripts/tokenize needs of the library `tokenizers`, for tests: the longest token that fits."""

import json
import types


class Tokenizer:
    @classmethod
    def from_file(cls, path):
        tokenizer = cls()
        with open(path, encoding="utf-8") as file:
            description = json.load(file)
        tokenizer.special = {added["content"]: added["id"] for added in description["added_tokens"]}
        tokenizer.tokens = {**description["model"]["vocab"], **tokenizer.special}
        tokenizer.encode_special_tokens = False
        return tokenizer

    def get_vocab(self, with_added_tokens):
        return dict(self.tokens)

    def token_to_id(self, text):
        return self.tokens.get(text)

    def no_truncation(self):
        pass

    no_padding = no_truncation

    def _encode(self, text):
        usable = [token for token in self.tokens if not (self.encode_special_tokens and token in self.special)]
        text = text.replace(" ", "\u0120").replace("\n", "\u010a")
        at = 0
        while at < len(text):
            token = max((token for token in usable if text.startswith(token, at)), key=len)
            at += len(token)
            yield self.tokens[token]

    def encode_batch(self, texts, add_special_tokens):
        return [types.SimpleNamespace(ids=list(self._encode(text))) for text in texts]
