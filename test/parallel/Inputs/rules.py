#!/usr/bin/env python3
"""Are the sharding rules true?  For every example of docs/sharding_rules.mlir this
shards each factor of the rule over a mesh axis, and all of the tensors into flat
ranges where the rule says so, partitions, and compares the ranks' answer with one
rank's.  Where the rule says that the op can be sharded, nothing may be gathered.  For
each set of operands in which the op is linear it compares f(a + b) with f(a) + f(b).

    rules.py sharding_rules.mlir WORKING-FILE
"""

import pathlib
import re
import subprocess
import sys

PIPELINE = "comm-propagate,comm-insert-reshards,comm-verify-shardings,comm-partition"
FUNCTION = re.compile(r"^func\.func @(\w+)\((.*?)\)\s*->\s*(.*?) \{\n(.*?)^\}", re.S | re.M)
RULE = re.compile(r"^([\d\w ,()]*)-> (.*?)((?: (?:reduced|whole|positional|decomposed|linear|flat)\b.*)?)$")
MARKS = ("reduced", "whole", "positional", "decomposed", "linear", "flat")
RANKS_OF_FLAT = 5  # does not divide the examples' tensors: there is padding
RANKS_UNPADDED = 2  # divides those of rules that want no padding


def run(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout, done.stderr


class Rule:
    def __init__(self, text):
        operands, results, marks = RULE.match(text).groups()
        self.operands, self.results = self.tensors(operands), self.tensors(results)
        self.marks = {mark: [] for mark in MARKS}
        for word in re.findall(r"\{[\d ]*\}|\w+", marks):
            mark = word if word in MARKS else mark
            self.marks[mark].append(word)
        self.linear = [[int(number) for number in word[1:-1].split()] for word in self.marks["linear"][1:]]
        self.flat = bool(self.marks["flat"])
        self.unpadded = "unpadded" in self.marks["flat"]
        self.letters = sorted({letter for tensor in self.operands + self.results for dim in tensor for letter in dim})

    @staticmethod
    def tensors(text):
        """The letters of each dim of each tensor, major to minor."""
        parts = [part.split() for part in text.split(",")] if text.strip() else []
        return [[dim if dim != "1" else "" for dim in part if dim != "()"] for part in parts]

    def can_shard(self, letter):
        return letter in self.marks["decomposed"] or letter not in self.marks["whole"]


class Example:
    def __init__(self, match, rule):
        self.name, arguments, results, self.body = match.groups()
        self.arguments = re.findall(r"%(\w+): (tensor<[^>]*>)", arguments)
        self.results = re.findall(r"tensor<[^>]*>", results)
        self.rule = Rule(rule)
        op = [line for line in self.body.split("\n") if " = " in line][-1]
        names = re.findall(r"%(\w+)", op.split(" = ")[1].split(" : ")[0])
        argument = {name: index for index, (name, _) in enumerate(self.arguments)}
        # Which argument each operand of the op is; operands made in the body are none.
        self.operands = [argument.get(name) for name in names]

    def sizes(self):
        """The size of each factor."""
        found, dims = {}, []
        types = [(self.rule.results[i], text) for i, text in enumerate(self.results)]
        types += [(factors, self.arguments[index][1])
                  for factors, index in zip(self.rule.operands, self.operands) if index is not None]
        for factors, text in types:
            dims += zip(factors, map(int, re.findall(r"(\d+)x", text)))
        for factors, size in sorted(dims, key=lambda dim: len(dim[0])):
            rest = size
            for letter in factors:
                rest //= found.get(letter, 1)
            for letter in factors:
                found.setdefault(letter, rest)
        return found

    def text(self, name, arguments, results):
        """The function with these attributes of its arguments and results."""
        def attributed(text, attribute):
            return text + (f" {{comm.sharding = {attribute}}}" if attribute else "")
        inside = ", ".join(attributed(f"%{argument}: {text}", attribute)
                           for (argument, text), attribute in zip(self.arguments, arguments))
        outside = ", ".join(attributed(text, attribute) for text, attribute in zip(self.results, results))
        return f"func.func @{name}({inside}) -> ({outside}) {{\n{self.body}}}\n"

    def annotated(self, name, attribute):
        """The function with `attribute(factors of the dims)` on what the op reads and makes."""
        arguments = [None] * len(self.arguments)
        for factors, index in zip(self.rule.operands, self.operands):
            if index is not None:
                arguments[index] = attribute(factors)
        return self.text(name, arguments, [attribute(factors) for factors in self.rule.results])

    def shard(self, letter):
        """The function with a factor over an axis of 2, and the size of another axis, over
        which the factors above it in its dims are sharded down to elements."""
        sizes = self.sizes()
        above = {dim[:dim.index(letter)] for tensor in self.rule.operands + self.rule.results
                 for dim in tensor if letter in dim}
        major = next((letters for letters in sorted(above) if letters), "")
        count = 1
        for other in major:
            count *= sizes[other]
        mesh = f"@above{count}" if major else "@mesh"

        def axes(dim):
            names = ["y"] if major and major in dim else []
            return "{" + ", ".join(names + ["x"] * (letter in dim)) + "}"

        def attribute(factors):
            dims = " ".join(axes(dim) for dim in factors)
            return f"#comm.sharding<{mesh}, {dims}>" if letter in "".join(factors) else None

        return count, self.annotated(f"{self.name}_sharded_{letter}", attribute)

    def flat(self, mesh):
        def attribute(factors):
            return f"#comm.sharding<@{mesh}, {' '.join('{}' for _ in factors)}, flat {{x}}>" if factors else None
        return self.annotated(f"{self.name}_{mesh}", attribute)

    def variant(self, suffix, renamed):
        """The body with other names: its lines, and what it returns."""
        made = set(re.findall(r"%(\w+)(?=[^=\n]* = )", self.body))

        def rename(match):
            name = match[1]
            return f"%{name}{suffix}" if name in made else f"%{renamed.get(name, name)}"
        body, returned = re.sub(r"%(\w+)", rename, self.body).split("  return ")
        return body, re.findall(r"%\w+", returned)

    def linear(self, operands):
        """A function that returns f(a) + f(b) - f(a + b), where a and b are these operands."""
        chosen = [self.arguments[self.operands[number]] for number in operands]
        arguments = [f"%{name}: {text}" for name, text in self.arguments]
        arguments += [f"%{name}_b: {text}" for name, text in chosen]
        body = "".join(f"  %{name}_s = arith.addf %{name}, %{name}_b : {text}\n" for name, text in chosen)
        values = []
        for suffix in ("", "_b", "_s"):
            lines, returned = self.variant(f"_of{suffix}", {name: name + suffix for name, _ in chosen})
            body += lines
            values.append(returned)
        for number, (a, b, both, text) in enumerate(zip(*values, self.results)):
            body += f"  %sum{number} = arith.addf {a}, {b} : {text}\n"
            body += f"  %error{number} = arith.subf %sum{number}, {both} : {text}\n"
        errors, types = ", ".join(f"%error{number}" for number in range(len(self.results))), ", ".join(self.results)
        name = "_".join([self.name, "linear", *map(str, operands)])
        return f"func.func @{name}({', '.join(arguments)}) -> ({types}) {{\n{body}  return {errors} : {types}\n}}\n"


def examples(path):
    text = path.read_text()
    _, remarks = run("braid-opt", path, "--tg-print-sharding-rules", "-o", "/dev/null")
    rules = {int(line): rule for line, rule in re.findall(r":(\d+):\d+: remark: [\w.]+: (.*)", remarks)}
    for match in FUNCTION.finditer(text):
        first = text[:match.start()].count("\n") + 1
        lines = range(first, first + match[0].count("\n") + 1)
        yield Example(match, [rules[line] for line in lines if line in rules][-1])


def check_shards(found, file):
    meshes, functions, shardable = set(), [], set()
    for example in found:
        if "@mesh" in example.body:  # a constraint says itself how it is sharded
            continue
        for letter in example.rule.letters:
            count, text = example.shard(letter)
            if count > 1:
                meshes.add(count)
            functions.append(text)
            if example.rule.can_shard(letter):
                shardable.add(f"{example.name}_sharded_{letter}")
        if example.rule.flat:
            # Ranges with padding are correct for all ops; some ops gather them.
            functions.append(example.flat("flat"))
            if example.rule.unpadded:
                functions.append(example.flat("unpadded"))
            shardable.add(f"{example.name}_{'unpadded' if example.rule.unpadded else 'flat'}")
    header = f"comm.mesh @flat [x = {RANKS_OF_FLAT}]\ncomm.mesh @unpadded [x = {RANKS_UNPADDED}]\n"
    header += "comm.mesh @mesh [x = 2]\n"
    header += "".join(f"comm.mesh @above{count} [y = {count}, x = 2]\n" for count in sorted(meshes))
    file.write_text(header + "".join(functions))
    options = [f"--{name}" for name in PIPELINE.split(",")]
    local, _ = run("braid-opt", file, *options)
    for name, body in re.findall(r"func\.func @(\w+)\((.*?)\n  \}", local, re.S):
        if name in shardable and "all_gather" in body:
            sys.exit(f"{name}: the rule says that it can be sharded, but something is gathered:\n{body}")
    compared, _ = run("braid-interp", file, "--compare", f"--pipeline={PIPELINE}", "--ignored-share=0.3")
    agree = compared.count("results agree")
    if agree != len(functions):
        sys.exit(f"{len(functions)} functions, but {agree} were compared:\n{compared}")
    print(f"{agree} functions on shards agree with one rank, "
          f"{len(shardable)} of them without a gather")


def check_linear(found, file):
    functions = [example.linear(operands) for example in found for operands in example.rule.linear]
    file.write_text("comm.mesh @mesh [x = 2]\n" + "".join(functions))
    printed, _ = run("braid-interp", file, "--arithmetic=f64", "--print-limit=100000")
    worst = 0.0
    for line in printed.splitlines():
        if " = " in line:
            numbers = re.findall(r"-?\d[\d.]*(?:e[+-]?\d+)?", line.split(" = ")[1])
            worst = max([worst] + [abs(float(number)) for number in numbers])
    if worst > 1e-12:
        sys.exit(f"an op is not linear as its rule says: error {worst}\n{printed}")
    print(f"{len(functions)} sets of operands are linear")


def main():
    found, file = list(examples(pathlib.Path(sys.argv[1]))), pathlib.Path(sys.argv[2])
    check_shards(found, file)
    check_linear(found, file)


if __name__ == "__main__":
    main()
