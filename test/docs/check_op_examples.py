#!/usr/bin/env python3
"""Reads the examples of ops: check_op_examples.py PAGE.md DIALECT

Each op of the dialect has an example in its section. Its syntax is what braid-opt reads, and its types stand as
braid-opt prints them.
"""

import pathlib
import re
import subprocess
import sys


def statements(block):
    """Returns the ops of an example; an op may continue on the next line."""
    joined = re.sub(r"\s*\n\s+", " ", block.strip())
    return [line for line in joined.split("\n") if line]


def types_of(text):
    return re.findall(r"tensor<[^>]*>", text)


def function(name, lines):
    """A function around the lines, with an argument for each value that none of them defines."""
    values, arguments = set(), {}
    for line in lines:
        results, rest = line.split(" = ", 1)
        head, types = rest.rsplit(" : ", 1)
        operands, written = re.findall(r"%\w+", head), types_of(types.split(" -> ")[0])
        if len(written) == 1:  # that of all operands
            written *= len(operands)
        for value, type in zip(operands, written, strict=True):
            if value not in values:
                arguments.setdefault(value, type)
        values.update(re.findall(r"%\w+", results))
    listed = ", ".join(f"{value}: {type}" for value, type in arguments.items())
    return f"func.func @{name}({listed}) {{\n" + "\n".join(lines) + "\nreturn\n}\n"


def main():
    page, dialect = pathlib.Path(sys.argv[1]).read_text(), sys.argv[2]
    wrong, written, module = [], [], ""
    for op, section in re.findall(rf"^### `({dialect}\.\w+)`\n(.*?)(?=^##)", page, re.M | re.S):
        blocks = [statements(block) for block in re.findall(r"^```mlir\n(.*?)^```", section, re.M | re.S)]
        if not any(f"{op} " in line for block in blocks for line in block):
            wrong.append(f"{op} has no example")
        for block in blocks:
            module += function(f"f{len(written)}", block)
            written += block
    run = subprocess.run(["braid-opt", "-"], input=module, capture_output=True, text=True, check=False)
    if run.returncode:
        sys.exit(f"braid-opt refuses an example:\n{run.stderr}")
    printed = [line.strip() for line in run.stdout.split("\n") if " = " in line]
    for line, again in zip(written, printed, strict=True):
        shown, prints = line.rsplit(" : ", 1)[1], again.rsplit(" : ", 1)[1]
        if shown != prints:
            wrong.append(f"{line}\n  is printed with the types {prints}")
    print(f"{len(written)} ops in examples, {len(wrong)} wrong", *wrong, sep="\n")
    return bool(wrong) or not written


if __name__ == "__main__":
    sys.exit(main())
