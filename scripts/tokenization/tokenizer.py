"""A tokenizer of the `tokenizers` library, with what its folder says beside it."""

import pathlib

from . import guarded, libraries
from .guarded import Failure


class Tokenizer:
    """From a folder as Hugging Face publishes them, or its tokenizer.json."""

    def __init__(self, path):
        try:
            import tokenizers
        except ImportError:
            raise Failure(libraries.missing("tokenizers")) from None
        path = pathlib.Path(path)
        file = path / "tokenizer.json" if path.is_dir() else path
        if not file.is_file():
            raise Failure(f"'{path}' has no tokenizer.json, which holds a tokenizer of the library 'tokenizers'")
        try:
            self.description = guarded.read(file)
            self.library = tokenizers.Tokenizer.from_file(str(file))
        except Failure:
            raise
        except Exception as error:  # the library raises nothing more special
            raise Failure(f"cannot read the tokenizer '{file}': {error}") from None
        self.folder = file.parent
        self.config = self._config()
        self.vocabulary = max(self.library.get_vocab(with_added_tokens=True).values()) + 1
        # What no tokenizer should do to data: cut it or fill it up.
        self.library.no_truncation()
        self.library.no_padding()

    def _config(self):
        file = self.folder / "tokenizer_config.json"
        if not file.is_file():
            return {}
        config = guarded.read(file)
        return config if isinstance(config, dict) else {}

    def named(self, key):
        """The text of a special token that the configuration names, such as eos_token."""
        value = self.config.get(key)
        return value.get("content") if isinstance(value, dict) else value

    def id_of(self, text):
        token = self.library.token_to_id(text)
        if token is None:
            raise Failure(f"the tokenizer in '{self.folder}' has no token '{text}'")
        return token

    def end_of_text(self):
        """The token that ends a text; None where nothing says which it is."""
        name = self.named("eos_token")
        if name:
            return self.id_of(name)
        for name in ("<|endoftext|>", "<|end_of_text|>", "</s>", "<eos>"):
            if self.library.token_to_id(name) is not None:
                return self.library.token_to_id(name)
        return None

    def beginning_of_text(self):
        """The token that is put in front of a text; None for none."""
        name = self.named("bos_token")
        return self.id_of(name) if name and self.config.get("add_bos_token") else None

    def encode(self, texts, with_special_tokens=False):
        """Lists of tokens.  Where texts are data, the name of a special token in them is text, too."""
        for text in texts:
            if not guarded.is_text(text):
                raise Failure(f"{ascii(text[:40])} is not text: it has bytes or characters that are not Unicode")
        self.library.encode_special_tokens = not with_special_tokens
        return [each.ids for each in self.library.encode_batch(texts, add_special_tokens=False)]
