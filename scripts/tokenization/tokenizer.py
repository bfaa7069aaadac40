"""A tokenizer of the `tokenizers` library that gives the same tokens as Transformers."""

import json
import pathlib

from . import guarded, libraries
from .guarded import Failure

FLAGS = ("single_word", "lstrip", "rstrip", "normalized")  # of an added token
MAX_VOCABULARY = 1 << 24
USUAL_ENDS = ("<|endoftext|>", "<|end_of_text|>", "</s>", "<eos>", "[SEP]")


def called(place, function, *arguments, **named):
    """Calls a function of the library. If its Rust code panics, the library raises something that is no Exception."""
    try:
        return function(*arguments, **named)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        raise Failure(f"{place}: {error}") from None


class Tokenizer:
    """Reads a tokenizer's folder in Hugging Face's form, or its tokenizer.json."""

    def __init__(self, path):
        try:
            import tokenizers
        except ImportError:
            raise Failure(libraries.missing("tokenizers")) from None
        path = pathlib.Path(path)
        file = path / "tokenizer.json" if path.is_dir() else path
        if not file.is_file():
            raise Failure(f"'{path}' has no tokenizer.json, which holds a tokenizer of the library 'tokenizers'")
        self.description = guarded.read(file)
        self.library = called(f"cannot read the tokenizer '{file}'", tokenizers.Tokenizer.from_file, str(file))
        self.folder = file.parent
        self.read_config()
        if self._is_llama():
            self._build_as_llama(tokenizers)
        self._add_named_tokens(tokenizers)
        self.vocabulary = max(self.library.get_vocab(with_added_tokens=True).values(), default=-1) + 1
        if self.vocabulary > MAX_VOCABULARY:
            raise Failure(f"the tokenizer in '{self.folder}' has a token of the number {self.vocabulary - 1}, above the limit of "
                          f"{MAX_VOCABULARY - 1}; number its tokens from 0 on")
        # A tokenizer must neither truncate nor pad data.
        self.library.no_truncation()
        self.library.no_padding()

    def read_config(self):
        self.config = self._config()
        extra = self.config.get("extra_special_tokens") or self.config.get("additional_special_tokens") or []
        self._unnamed = extra if isinstance(extra, list) else []
        extra = extra if isinstance(extra, dict) else {}
        self._named = {name: entry for name, entry in {**self.config, **extra}.items()
                       if self._content(entry) and (name.endswith("_token") or name in extra)}

    def _config(self):
        """Returns tokenizer_config.json, with the contents of special_tokens_map.json in older folders."""
        config, older = map(self._object, ("tokenizer_config.json", "special_tokens_map.json"))
        return config if "added_tokens_decoder" in config else {**config, **older}

    def _object(self, name):
        file = self.folder / name
        value = guarded.read(file) if file.is_file() else {}
        if not isinstance(value, dict):
            raise Failure(f"'{file}' is not a JSON object")
        return {key: each for key, each in value.items() if each is not None}

    def _add_named_tokens(self, tokenizers):
        """Makes the tokens that the configuration names special, whether tokenizer.json lists them or not."""
        self.added = {each["content"] for each in self.description.get("added_tokens") or []}
        for entry in [*self._listed_tokens(), *self._named.values(), *self._unnamed]:
            text = self._content(entry)
            if not text or text in self.added:
                continue
            self.added.add(text)
            flags = dict(entry) if isinstance(entry, dict) else {"normalized": False}
            isSpecial = flags.get("special", True)
            flags = {key: bool(flags[key]) for key in FLAGS if key in flags}
            token = tokenizers.AddedToken(text, special=isSpecial, **flags)
            (self.library.add_special_tokens if isSpecial else self.library.add_tokens)([token])

    def _is_llama(self):
        steps = json.dumps([self.description.get(name) for name in ("pre_tokenizer", "decoder")])
        return str(self.config.get("tokenizer_class")).removesuffix("Fast") == "LlamaTokenizer" and "ByteLevel" not in steps

    def _build_as_llama(self, tokenizers):
        """Transformers 5 takes only vocabulary and post-processor of a LlamaTokenizer from tokenizer.json."""
        scheme = "always" if self.config.get("legacy", False) else "first"
        scheme = scheme if self.config.get("add_prefix_space", True) else "never"
        self.library.normalizer = None
        self.library.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace(prepend_scheme=scheme, split=False)

    def _listed_tokens(self):
        listed = self.config.get("added_tokens_decoder", {})
        if not isinstance(listed, dict) or not all(
                key.isdecimal() and len(key) < 20 and isinstance(each, dict) for key, each in listed.items()):
            raise Failure(f"'{self.folder / 'tokenizer_config.json'}': 'added_tokens_decoder' is not an object of tokens "
                          "by their numbers")
        return [each for _, each in sorted(listed.items(), key=lambda each: int(each[0]))]

    @staticmethod
    def _content(entry):
        text = entry.get("content") if isinstance(entry, dict) else entry
        return text if isinstance(text, str) else None

    def special_tokens(self):
        """Returns the text of each special token, by its name in templates."""
        return {name: self._content(entry) for name, entry in self._named.items()}

    def named(self, key):
        """Returns the text of a special token that the configuration names, such as eos_token."""
        return self._content(self.config.get(key))

    def id_of(self, text):
        token = self.library.token_to_id(text)
        if token is None:
            raise Failure(f"the tokenizer in '{self.folder}' has no token '{text}'")
        return token

    def end_of_text(self):
        """Returns the token that ends a text; None if it is unknown."""
        name = self.named("eos_token")
        if name:
            return self.id_of(name)
        return next(filter(lambda token: token is not None, map(self.library.token_to_id, USUAL_ENDS)), None)

    def encode(self, texts, with_ends=True, split=False, place="the text"):
        """Returns the library's encodings: ids, and the characters of each. `with_ends` adds the tokenizer's tokens
        around a text; `split` encodes the names of special tokens as text."""
        for text in texts:
            if not guarded.is_text(text):
                raise Failure(f"{ascii(text[:40])} is not text: it has bytes or characters that are not Unicode")
        self.library.encode_special_tokens = bool(split or self.config.get("split_special_tokens"))
        return called(f"{place}: the tokenizer in '{self.folder}' cannot encode it", self.library.encode_batch, texts,
                      add_special_tokens=with_ends)
