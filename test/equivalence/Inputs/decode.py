"""A text through `decode`, a token at a time, against `generate` of each of its beginnings.

    decode.py MODEL WEIGHTS --positions N --vocabulary N

The interpreter runs both on the graph behind tg-make-programs and tg-make-decode, in f64: the caches that
`generate` fills at the first position, and `decode` at each other one, must give the logits that `generate` has.
"""

import argparse
import json
import pathlib
import random
import struct
import subprocess
import tempfile

FORMATS = {"I32": "i", "F64": "d", "F32": "f"}


def read(path):
    """Name to (type, shape, bytes) of a safetensors file."""
    data = pathlib.Path(path).read_bytes()
    length = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + length])
    header.pop("__metadata__", None)
    start = 8 + length
    return {name: (entry["dtype"], entry["shape"], data[start + entry["data_offsets"][0]:start + entry["data_offsets"][1]])
            for name, entry in header.items()}


def write(path, tensors):
    header, body = {}, b""
    for name, (dtype, shape, data) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    text = json.dumps(header).encode()
    pathlib.Path(path).write_bytes(struct.pack("<Q", len(text)) + text + body)


def numbers(tensor):
    dtype, _, data = tensor
    return struct.unpack(f"<{len(data) // struct.calcsize(FORMATS[dtype])}{FORMATS[dtype]}", data)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("weights")
    parser.add_argument("--positions", type=int, required=True, help="of the sequence in the model")
    parser.add_argument("--vocabulary", type=int, required=True)
    parser.add_argument("--first", type=int, default=2, help="the position that generate fills the caches up to")
    options = parser.parse_args()

    text = [random.Random(1).randrange(options.vocabulary) for _ in range(options.positions)]
    folder = pathlib.Path(tempfile.mkdtemp())

    def run(function, tokens, position, caches):
        inputs, outputs = folder / "inputs.safetensors", folder / "outputs.safetensors"
        shape = [1, len(tokens)]
        write(inputs, caches | {"tokens": ("I32", shape, struct.pack(f"<{len(tokens)}i", *tokens))})
        subprocess.run(["braid-interp", options.model, "--arithmetic=f64", f"--function={function}",
                        "--pipeline-before=tg-make-programs,tg-make-decode", f"--inputs={options.weights},{inputs}",
                        f"--set=position={position}", f"--outputs={outputs}"], check=True)
        results = read(outputs)
        caches = {name.removeprefix("updates "): tensor for name, tensor in results.items() if "cache" in name}
        return numbers(results["logits"]), caches

    def window(position):
        return text[:position + 1] + [0] * (options.positions - position - 1)

    _, caches = run("generate", window(options.first), options.first, {})
    assert caches, "generate fills no caches"
    for position in range(options.first + 1, options.positions):
        expected, _ = run("generate", window(position), position, {})
        found, caches = run("decode", [text[position]], position, caches)
        apart = max(abs(a - b) for a, b in zip(found, expected, strict=True))
        assert apart < 1e-6, f"at position {position} logits differ by {apart}"
        assert any(expected), "all logits are 0"
    print("same", len(caches), "caches")


main()
