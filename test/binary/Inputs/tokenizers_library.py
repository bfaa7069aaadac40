"""Trains a tokenizer as GPT-2 has, and compares with it: tokenizers_library.py FOLDER TEXT..."""

import pathlib
import subprocess
import sys

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

scripts = pathlib.Path(__file__).resolve().parents[3] / "scripts"
sys.path.insert(0, str(scripts))
from tokenization import documents, seams, table, tokenizer  # noqa: E402


def main():
    folder, files = pathlib.Path(sys.argv[1]), sys.argv[2:]
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    made.train(files, trainers.BpeTrainer(vocab_size=1000, special_tokens=["<|endoftext|>"],
                                          initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    made.save(str(folder / "tokenizer.json"))
    text = "".join(pathlib.Path(file).read_text() for file in files) + "\u65e5\u672c"
    (folder / "text").write_text(text)

    read = tokenizer.Tokenizer(folder)
    assert read.end_of_text() == made.token_to_id("<|endoftext|>")
    whole = read.encode([text])[0].ids
    assert b"".join(table.table_of(read)[token] for token in whole).decode() == text
    documents.PIECE, seams.OVERLAP = 5000, 512
    with open(folder / "text") as file:
        pieces = list(documents.pieces_of(file))
    assert len(pieces) > 5 and "".join(pieces) == text
    found = list(seams.ids_of(pieces, lambda piece: read.encode([piece])[0]))
    assert len(found) > 5 and sum(found, []) == whole

    subprocess.run([sys.executable, scripts / "tokenize", "--tokenizer", folder, *files, "-o", folder / "data.tok"],
                   check=True)


if __name__ == "__main__":
    main()
