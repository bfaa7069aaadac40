#!/usr/bin/env python3
"""kernels_alone.py GRAPH... --work FOLDER [--options="--precision=bf16"]...

Every kernel of models by itself, on the shim: takes the kernels of the memory form, launches each once on random
operands, and compares every result with the interpreter's, which evaluates the bodies in f64.  Of several graphs and
several --options, all kernels of all of them, equal ones once.  Kernels have their real lanes; how many rows there
are is the graph's business (--batch, --seq).  A launch of vectors (a flat kernel) is one of two short ones.  The functions
that run must be those of the programs.  Prints a line.
"""
import argparse
import array
import json
import pathlib
import random
import re
import shlex
import struct
import subprocess
import sys

from memory_form import SIZES, withoutLocations

HERE = pathlib.Path(__file__).resolve().parent
KERNEL = re.compile(r"\s*exec\.kernel_def @(\S+) space \[([\d, ]*)\]( flat)? layouts \[(.*)\] ties \[([\d, -]*)\]")
LAYOUT = re.compile(r"!exec\.ref<((?:\d+x)*)(\w+), \[([\d, ]*)\]>")
VECTORS = (1000, 37)  # lengths of a flat kernel's operands
ROWS = (5, 2)  # and of one over any number of rows
NAMES = {"F32": "f32", "BF16": "bf16", "I32": "i32", "I64": "i64", "I8": "i8", "BOOL": "i1"}


class Failure(Exception):
    pass


class Operand:
    def __init__(self, dims, element, strides):
        self.dims, self.element, self.strides = dims, element, strides

    def extent(self):
        """Returns the number of elements from the first to the last."""
        return 1 + sum((n - 1) * s for n, s in zip(self.dims, self.strides))

    def isDense(self):
        count = 1
        for n in self.dims:
            count *= n
        return count == self.extent()

    def bytes(self):
        return self.extent() * SIZES[self.element]

    def ref(self):
        return f"!exec.ref<{''.join(f'{n}x' for n in self.dims)}{self.element}, [{', '.join(map(str, self.strides))}]>"

    def ofLength(self, length):
        """Returns an operand of this length for a flat kernel; scalars do not change."""
        return Operand([length, *self.dims[1:]], self.element, self.strides) if self.dims else self


# Of a table: for the interpreter those of a real vocabulary are too many.  Small ones have the same kernels.
MOST_ELEMENTS = 1 << 22


class Kernel:
    """Launches several tuples of operands if the program does so."""

    def __init__(self, text, batched):
        match = KERNEL.match(text)
        self.name, self.isFlat = match.group(1), bool(match.group(3))
        self.isBatched = self.isFlat or self.name in batched
        # The rows of the smallest table that it looks rows up in; 0: none.
        self.tableRows = min(map(int, re.findall(r"tensor\.extract .* : tensor<(\d+)x", text)), default=0)
        self.text = text
        self.space = [int(n) for n in match.group(2).split(",") if n.strip()]
        operands = [Operand([int(n) for n in shape.split("x") if n], element, [int(s) for s in strides.split(",") if s.strip()])
                    for shape, element, strides in LAYOUT.findall(match.group(4))]
        self.ties = [int(tie) for tie in match.group(5).split(",") if tie.strip()]
        self.ins, self.outs = operands[:len(operands) - len(self.ties)], operands[len(operands) - len(self.ties):]

    def rename(self, name):
        self.text, self.name = self.text.replace(f"@{self.name} ", f"@{name} ", 1), name

    def calls(self):
        """Returns the operands and results of each call of one launch."""
        lengths = (VECTORS if len(self.space) == 1 else ROWS) if self.isFlat else (None,) * (2 if self.isBatched else 1)
        return [tuple([o.ofLength(n) if n else o for o in some] for some in (self.ins, self.outs)) for n in lengths]


def kernels(text):
    """The kernels of a module, with what it calls by another name written out."""
    aliases = dict(re.findall(r"^(#\w+) = (.*)$", text, re.M))
    batched = {name for name, count in re.findall(r"exec\.launch @(\S+) batch (\d+)", text) if int(count) > 1}
    blocks = re.findall(r"^( *)(exec\.kernel_def .*?\n)\1\}$", text, re.M | re.S)
    return [Kernel(re.sub(r"#\w+", lambda name: aliases.get(name.group(0), name.group(0)), f"{body}}}"), batched)
            for _, body in blocks]


def unlike(some):
    """Returns kernels whose bodies, types or launches differ from all earlier ones, under names of their own."""
    found = {}
    for kernel in some:
        kernel.rename(f"{kernel.name}_{len(found)}")
        found.setdefault((kernel.isBatched, re.sub(r"@\S+", "", kernel.text, count=1)), kernel)
    return list(found.values())


def functions(text):
    """The functions of a kernels.cuh, but for names, spaces, comments and which operands share places."""
    found = set()
    for name, function in re.findall(r"^__global__ [^;]*? (\w+)_kernel(\(.*?^\})", text, re.M | re.S):
        found.add((name, re.sub(r"//.*|\b__restrict__\b|\s+", "", function)))
    return found


class Module:
    """A program that launches every kernel once, on places of its own.

    What a kernel overwrites is a tensor of the model, since an input is not a result at the same time; so is a
    result with gaps, whose other bytes nobody writes."""

    def __init__(self, kernels):
        self.tensors, self.buffers, self.refs, self.launches, self.arena = [], [], [], [], 0
        self.ints = {}  # name of an input of integers: its shape, bound, and whether all must be rows of a table
        for kernel in kernels:
            self.launch(kernel)

    def place(self, size):
        begin, self.arena = self.arena, (self.arena + size + 255) // 256 * 256
        return begin

    def tensor(self, name, operand):
        begin, size, kind = self.place(operand.bytes()), operand.bytes(), f"tensor<{operand.extent()}x{operand.element}>"
        self.tensors.append(f'exec.tensor @"{name}" at {begin} bytes {size} category optimizer_state : {kind} = '
                            f'#tg.state<"{name}", #tg.init<zeros>, kind = running_statistic>')
        return self.ref(name, operand)

    def buffer(self, name, operand, role):
        self.buffers.append((name, operand, role))
        return self.ref(name, operand)

    def ref(self, name, operand):
        self.refs.append(f'  %v{len(self.refs)} = exec.ref @"{name}" + 0 : {operand.ref()}')
        return f"%v{len(self.refs) - 1}"

    def launch(self, kernel):
        ins, outs, inTypes, outTypes = [], [], [], []
        for number, (sources, results) in enumerate(kernel.calls()):
            base = f"{kernel.name}.{number}." if kernel.isBatched else f"{kernel.name}."
            mine = []
            for i, operand in enumerate(sources):
                if i in kernel.ties:
                    mine.append(self.tensor(f"{base}io{i}", operand))
                    continue
                mine.append(self.buffer(f"{base}in{i}", operand, "input"))
                if operand.element in ("i32", "i64"):
                    self.ints[f"{base}in{i}"] = (operand, kernel.tableRows or kernel.space[-1], kernel.tableRows > 0)
            for i, (operand, tie) in enumerate(zip(results, kernel.ties)):
                outs.append(mine[tie] if tie >= 0 else
                            self.buffer(f"{base}out{i}", operand, "result") if operand.isDense() else
                            self.tensor(f"{base}out{i}", operand))
            ins += mine
            inTypes += [o.ref() for o in sources]
            outTypes += [o.ref() for o in results]
        self.launches.append(f"  exec.launch @{kernel.name} batch {len(kernel.calls())}({', '.join(ins)}) outs({', '.join(outs)}) : "
                             f"{', '.join(inTypes)} -> {', '.join(outTypes)}")

    def program(self):
        last, lines = len(self.launches), []
        for name, operand, role in self.buffers:
            live = f"-1 to {last}" if role == "input" else f"0 to {last}"
            category = "inputs" if role == "input" else "activations"
            lines.append(f'  exec.buffer @"{name}" at {self.place(operand.bytes())} bytes {operand.bytes()} live {live} '
                         f'category {category} name "{name}" "{role}" role "{name}" : tensor<{operand.extent()}x{operand.element}>')
        return "\n".join([*self.tensors, f"exec.program @all arena {self.arena} {{", *lines, *self.refs, *self.launches, "}\n"])


# ---------------------------------------------------------------------------
# Values
# ---------------------------------------------------------------------------

def write_tensors(path, tensors):
    """{name: (operand, values)} as safetensors."""
    header, body = {}, b""
    for name, (operand, values) in tensors.items():
        packed = struct.pack(f"<{len(values)}{'i' if operand.element == 'i32' else 'q'}", *values)
        header[name] = {"dtype": operand.element.upper(), "shape": [len(values)], "data_offsets": [len(body), len(body) + len(packed)]}
        body += packed
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + body)


def read_tensors(path, names=None):
    """Returns {name: (type, values)}, only for these names if they are given."""
    data = memoryview(path.read_bytes())
    length = struct.unpack_from("<Q", data)[0]
    header, body = json.loads(bytes(data[8:8 + length])), data[8 + length:]
    result = {}
    for name, entry in header.items():
        if name == "__metadata__" or names is not None and name not in names:
            continue
        kind, (begin, end) = NAMES[entry["dtype"]], entry["data_offsets"]
        if kind == "bf16":
            halves = array.array("H", bytes(body[begin:end]))
            values = array.array("f", struct.pack(f"<{len(halves)}I", *(half << 16 for half in halves)))
        else:
            values = array.array({"f32": "f", "i32": "i", "i64": "q", "i8": "b", "i1": "b"}[kind], bytes(body[begin:end]))
        result[name] = (kind, values)
    return result


def integers(ints):
    """Of every input of integers: classes or ids, and among many of them one that stands for none."""
    result = {}
    for name, (operand, bound, areRows) in ints.items():
        draw = random.Random(name)
        values = [draw.randrange(1, max(bound, 2)) for _ in range(operand.extent())]
        if len(values) > 4 and not areRows:
            values[3] = -100
        result[name] = (operand, values)
    return result


def isEqual(ours, theirs, rounds):
    """Whether a result is the interpreter's.

    A value that the kernel rounds to bf16 on its way may become the neighbour of what it is in f64, where the two
    lie next to one another by chance: then a few elements of what is computed from it are off by so much."""
    (kind, a), (_, b) = ours, theirs
    if len(a) != len(b) or kind in ("i32", "i64", "i8", "i1"):
        return a == b
    share, small = (2.0 ** -7 if kind == "bf16" else 1e-5), 1e-5 * max((abs(y) for y in b if y == y), default=0.0)
    # The root of a negative sum is NaN in both; NaN in only one is an error.
    pairs = [(x, y) for x, y in zip(a, b) if not (x != x and y != y)]
    off = [abs(x - y) for x, y in pairs if x != y and not abs(x - y) <= share * abs(y) + small]
    if not off or not rounds:
        return not off
    return len(off) <= max(1, len(a) // 50) and all(one <= 2.0 ** -7 * 1e5 * small for one in off)


# ---------------------------------------------------------------------------
# Running
# ---------------------------------------------------------------------------

def call(*command):
    command = [str(word) for word in command]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    if done.returncode:
        raise Failure(f"{' '.join(command)[:300]}\nended with {done.returncode}:\n{done.stdout[-3000:]}")


def check(args):
    work, found, bodies = args.work, [], {}
    work.mkdir(parents=True, exist_ok=True)
    for graph in args.graphs:
        for options in args.options or [""]:
            target = ["--target=cuda:sm_90", *shlex.split(options)]
            call("braidc", graph, *target, "--emit=memory", "-o", work / "memory.mlir")
            # Names of variables are those of locations, which kernels alone do not have.
            text = withoutLocations((work / "memory.mlir").read_text())
            (work / "unnamed.mlir").write_text(re.sub(r"^#loc.*$", "", text, flags=re.M))
            steps = [word for word in target if word.startswith("--accumulate=")]
            call("braidc", work / "unnamed.mlir", "--target=cuda:sm_90", *steps, "--emit=cu", "-o", work / "program")
            some = kernels(text)
            huge = {kernel.name for kernel in some if kernel.tableRows and max(o.extent() for o in kernel.ins) > MOST_ELEMENTS}
            found += [kernel for kernel in some if kernel.name not in huge]
            for name, body in functions((work / "program" / "kernels.cuh").read_text()):
                if name not in huge:
                    bodies.setdefault(body, f"{name} of {graph.name} {options}")
    found = unlike(found)
    module = Module(found)
    (work / "alone.mlir").write_text("\n".join([*(kernel.text for kernel in found), module.program()]))
    write_tensors(work / "ints", integers(module.ints))
    call("braidc", work / "alone.mlir", "--target=cuda:sm_90", "--emit=cu", "-o", work / "cuda")
    if args.edit:
        call("sed", "-i", "-E", args.edit, work / "cuda" / "kernels.cuh")
    ran = {body for _, body in functions((work / "cuda" / "kernels.cuh").read_text())}
    if others := sorted(name for body, name in bodies.items() if body not in ran) if not args.edit else []:
        raise Failure(f"alone, these are other functions than in the program: {', '.join(others)}")
    call(sys.executable, HERE / "shim_build.py", work / "cuda", "-o", work / "shim")
    call(work / "shim", "run", "--program", "all", "--inputs", work / "ints", "--outputs", work / "ours")
    call("braid-interp", work / "alone.mlir", "--function=all", "--arithmetic=f64", f"--inputs={work / 'ours'}",
         f"--outputs={work / 'theirs'}")
    theirs = read_tensors(work / "theirs")
    return f"{len(bodies)} functions, " + compare(found, read_tensors(work / "ours", theirs), theirs)


def compare(found, ours, theirs):
    rounding = {kernel.name for kernel in found if "truncf" in kernel.text}
    wrong = []
    for name, values in theirs.items():
        mine = ours.get(name)
        if mine is None:
            raise Failure(f"the program has no result '{name}'")
        if not isEqual(mine, values, name.removeprefix("updates ").split(".")[0] in rounding):
            at = max(range(len(values[1])), key=lambda i: abs(mine[1][i] - values[1][i]))
            wrong.append(f"{name}: element {at} is {mine[1][at]}, but {values[1][at]} in f64")
    if wrong:
        raise Failure("\n".join(wrong))
    return f"{len(found)} kernels with {len(theirs)} results, all equal"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graphs", nargs="+", type=pathlib.Path)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--options", action="append", help="of braidc; once for each way to compile the graphs")
    parser.add_argument("--edit", help="of the printed kernels, as sed takes it: an error to find")
    try:
        print(check(parser.parse_args()))
    except Failure as failure:
        sys.exit(f"error: {failure}")


if __name__ == "__main__":
    main()
