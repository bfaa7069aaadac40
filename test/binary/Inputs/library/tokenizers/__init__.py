"""What scripts/tokenize and docs/Cookbook.md need of the library `tokenizers`, for tests: a byte-level tokenizer
that merges pairs or, where it has no merges, takes the longest token that fits."""

import json
import re
import types

IS_STAND_IN = True
# GPT-2's words.
WORD = re.compile(r"'(?:[sdmt]|ll|ve|re)| ?[^\W\d_]+| ?\d+| ?(?:[^\s\w]|_)+|\s+(?!\S)|\s+")
# Letters for bytes; printable bytes stand for themselves.
PRINTING = [*range(33, 127), *range(161, 173), *range(174, 256)]
OTHERS = [byte for byte in range(256) if byte not in PRINTING]
LETTERS = {byte: chr(byte) for byte in PRINTING} | {byte: chr(256 + number) for number, byte in enumerate(OTHERS)}


class AddedToken:
    def __init__(self, content, **flags):
        self.content = content


def in_letters(text):
    """Returns (letters, the source character of each letter)."""
    pairs = [(LETTERS[byte], at) for at, character in enumerate(text) for byte in character.encode()]
    return "".join(letter for letter, _ in pairs), [at for _, at in pairs]


def ends_of(post):
    """The special tokens in front of a text and behind it."""
    kinds = (post or {}).get("processors", [post or {}])
    single = next((each["single"] for each in kinds if each.get("type") == "TemplateProcessing"), [])
    names = [each.get("SpecialToken", {}).get("id") for each in single]
    middle = names.index(None) if single else 0
    return names[:middle], names[middle + 1:]


class ByteLevelBPETokenizer:
    """Learns only letters, for any number of tokens."""

    def train(self, file, vocab_size, special_tokens):
        with open(file, encoding="utf-8") as text:
            letters = {*in_letters(text.read())[0], *map(chr, range(33, 127))}
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
        tokenizer.names = set(tokenizer.special) - {each["content"] for each in description["added_tokens"] if each["special"]}
        tokenizer.ends = ends_of(description.get("post_processor"))
        tokenizer.encode_special_tokens = False
        return tokenizer

    def get_vocab(self, with_added_tokens):
        return dict(self.tokens)

    def token_to_id(self, text):
        return self.tokens.get(text)

    def no_truncation(self):
        pass

    no_padding = no_truncation

    def add_special_tokens(self, added):
        for each in added:
            number = self.tokens.setdefault(each.content, max(self.tokens.values()) + 1)
            self.special[each.content] = number

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
        at = 0
        while at < len(text):
            token = max((token for token in self.tokens if token not in self.special and text.startswith(token, at)), key=len)
            at += len(token)
            yield token

    def _parts(self, text):
        """(a token's text in letters, the first of its characters, the one behind the last)"""
        for word in WORD.finditer(text) if self.ranks else [re.match("(?s).*", text)]:
            letters, places = in_letters(word[0])
            at = 0
            for part in self._merged(letters) if self.ranks else self._longest(letters):
                yield part, word.start() + places[at], word.start() + places[at + len(part) - 1] + 1
                at += len(part)

    def _encode(self, text, add_special_tokens):
        front, back = self.ends if add_special_tokens else ([], [])
        found = [(name, 0, 0) for name in front]
        names = self.names if self.encode_special_tokens else self.special
        at = 0
        for piece in re.split("(" + "|".join(map(re.escape, sorted(names, key=len, reverse=True))) + ")", text) if names else [text]:
            parts = [(piece, 0, len(piece))] if piece in names else self._parts(piece)
            found += [(part, at + start, at + end) for part, start, end in parts]
            at += len(piece)
        found += [(name, 0, 0) for name in back]
        return types.SimpleNamespace(ids=[self.tokens[part] for part, _, _ in found],
                                     offsets=[(start, end) for _, start, end in found])

    def encode_batch(self, texts, add_special_tokens):
        return [self._encode(text, add_special_tokens) for text in texts]
