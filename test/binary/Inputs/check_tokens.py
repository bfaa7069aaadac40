"""Compares texts and tokens of scripts/tokenize with those that Transformers made: check_tokens.py GOLDENS [--texts]

With --texts only what templates write, for which no tokenizer is needed."""

import importlib.machinery
import importlib.util
import json
import pathlib
import sys
import types

scripts = pathlib.Path(__file__).resolve().parents[3] / "scripts"
sys.path.insert(0, str(scripts))
sys.dont_write_bytecode = True

from tokenization import chat, documents, seams, tokenizer  # noqa: E402

loader = importlib.machinery.SourceFileLoader("tokenize_script", str(scripts / "tokenize"))
script = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
loader.exec_module(script)

# Cases that the tests' own library can read, which has only byte-level tokenizers.
BYTE_LEVEL = ("gpt2", "llama3", "qwen", "deepseek", "chatml", "tagged")


class Written:
    """Records the calls of a writer."""

    def __init__(self):
        self.ids, self.counts = [], []

    def begin_document(self):
        pass

    def add(self, ids, counts=None):
        self.ids += ids
        self.counts += counts or [True] * len(ids)


def expect(found, right, *place):
    if found != right:
        sys.exit(f"{' '.join(map(str, place))}:\n{str(found)[:2000]} is not\n{str(right)[:2000]}")


def written(read, line):
    """Returns the tokens that Job writes for a line of JSON."""
    job = script.Job(read, Written(), types.SimpleNamespace(end_token=None, split_special_tokens=False, chat_template=None))
    documents.json_lines = lambda path: [(line, path)]
    job.add("line.jsonl")
    return job.writer


def check_tokens(read, name, golden):
    for case in [*golden["texts"], *golden["chats"].values()]:
        isChat = "messages" in case
        found = written(read, {key: case[key] for key in ("messages", "tools") if key in case} if isChat else case)
        end = [golden["end"]] if case["ids"][-1] != golden["end"] else []
        expect(found.ids, case["ids"] + end, name, case["text"])
        if isChat:
            counts = [digit == "1" for digit in case["counts"]] + [False] * len(end)
            expect(found.counts, counts, name, case["text"])


def check_texts(folder, name, golden):
    """Checks with a tokenizer of which only the configuration is read."""
    read = object.__new__(tokenizer.Tokenizer)
    read.folder = folder
    read.read_config()
    for title, case in golden["chats"].items():
        text, ranges = chat.Chat(read).text(documents.conversation_of(case, title), title)
        expect(text, case["text"], name, title)
        if not case["counts"].count("1"):
            expect(sum(end - start for start, end in ranges), 0, name, title)
        else:
            assert ranges, (name, title)


def check_pieces(read, name, golden):
    """A long text in windows is the same as in one.  Windows share more than the longest token has, as in scripts/tokenize."""
    text = "".join(case["text"] * 20 + "\n" for case in golden["texts"]) * 3
    whole = read.encode([text])[0].ids
    for seams.OVERLAP, size in ((64, 100), (200, 333), (96, 7)):
        pieces = [text[at:at + size] for at in range(0, len(text), size)]
        expect(sum(seams.ids_of(pieces, lambda part: read.encode([part])[0]), []), whole, name, "in pieces of", size)


def main():
    goldens = pathlib.Path(sys.argv[1])
    cases = json.loads((goldens / "cases.json").read_text(encoding="utf-8"))
    for name, golden in cases.items():
        if sys.argv[2:] == ["--texts"]:
            check_texts(goldens / name, name, golden)
            continue
        import tokenizers
        if hasattr(tokenizers, "IS_STAND_IN") and name not in BYTE_LEVEL:
            continue
        read = tokenizer.Tokenizer(goldens / name)
        check_tokens(read, name, golden)
        check_pieces(read, name, golden)
    print(len(cases), "shapes")


if __name__ == "__main__":
    main()
