#!/usr/bin/env python3
"""Writes Passes.md and Dialects.md, from the .td files and the order in which braidc runs passes.

    docs/reference.py [--check]

The tools of Braid are those on the PATH. `--check` writes nothing and fails when a
page is not what would be written.
"""

import argparse
import collections
import functools
import graphlib
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[1]
LLVM = pathlib.Path("/usr/lib/llvm-19")
NOTE = "<!-- Written by docs/reference.py: edit the .td files, then run it. -->"
MANUALS = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob("passes/*/Passes.td"))
DIALECTS = ["dialects/TG/TGOps.td", "dialects/Exec/ExecOps.td", "dialects/Comm/CommOps.td"]
# Flags of braidc. The page shows each pass with the first of these whose pipeline has the pass. Cases with
# --recompute and a mesh, and with both kinds of --offload, only add to the order of passes.
CASES = ["", "--hook=list", "--accumulate=2", "--precision=bf16", "--optimizer-state=bf16", "--recompute=full", "--loss-chunk=4",
         "--mesh=dp=2", "--mesh=dp=2 --link=20,1.25", "--mesh=dp=2 --zero=3", "--mesh=dp=2 --noise-scale",
         "--mesh=dp=2 --collectives=ring", "--mesh=dp=2 --precision=bf16 --reduce-dtype=f32",
         "--mesh=dp=2 --strategy=dataparallel", "--mesh=pp=2 --accumulate=2", "--mesh=pp=2 --accumulate=2 --recompute=full",
         "--mesh=dp=2 --zero=3 --recompute=full", "--mesh=tp=2", "--mesh=tp=2 --tp-overlap=2", "--mesh=cp=2", "--mesh=ep=2",
         "--precision=bf16 --target=cuda:sm_90", "--target=cuda:sm_90 --offload=optimizer",
         "--target=cuda:sm_90 --offload=activations", "--target=cuda:sm_90 --offload=optimizer,activations"]


def run(*command):
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} fails:\n{result.stderr}")
    return result.stdout + result.stderr


class Records:
    """TableGen's records of a file."""

    def __init__(self, path):
        tblgen = LLVM / "bin" / "llvm-tblgen"
        include = LLVM / "include"
        if not tblgen.exists():
            tblgen = pathlib.Path(shutil.which("llvm-tblgen") or sys.exit("llvm-tblgen, of the package llvm-19, is not installed"))
            include = tblgen.resolve().parents[1] / "include"
        self.path = path
        self.all = json.loads(run(tblgen, "--dump-json", "-I", ROOT, "-I", include, ROOT / path))

    def of(self, kind, namespace=""):
        """The named records of a class, in the order of their names."""
        found = [self.all[name] for name in self.all["!instanceof"].get(kind, [])]
        return [record for record in found if not record["!anonymous"] and (record.get("cppNamespace") or "").startswith(namespace)]

    def get(self, reference):
        return self.all[reference["def"]]


def prose(text):
    return textwrap.dedent((text or "").strip("\n")).strip()


def sentence(text):
    """Returns a summary as a sentence: some have a full stop, some do not."""
    return prose(text).rstrip(".") + "."


def cell(text):
    return re.sub(r"\s+", " ", prose(text)).replace("|", "\\|")


def table(header, rows):
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def anchor(heading):
    """GitHub's name of a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def link(text):
    return f"[`{text}`](#{anchor(text)})"


# ---- Passes ----

def passes_of(text):
    """The names in a textual pipeline, in order, without the anchors they are nested on."""
    depth, plain = 0, ""
    for char in text:  # options may hold anything
        depth += (char == "{") - (char == "}")
        plain += char if depth == 0 and char != "}" else ""
    return [name for name in re.findall(r"[\w.-]+", plain) if "." not in name and name != "any"]


def expanded(option):
    """Returns the passes that braid-opt would run, with pipelines expanded."""
    dump = subprocess.run(["braid-opt", "-", "--dump-pass-pipeline", option], input="module {}",
                          capture_output=True, text=True, check=False).stderr  # some stop for want of a model
    whole = re.search(r"^builtin\.module\(.*\)$", dump, re.M)
    return passes_of(whole[0] if whole else sys.exit(f"braid-opt {option} prints no pipeline:\n{dump}"))


def pipelines():
    """Returns (pipeline, description) of each registered pipeline."""
    listed = re.search(r"^ *Pass Pipelines:\n((?: {6,}--.*\n)*)", run("braid-opt", "--help"), re.M)
    return re.findall(r"^ {6}--([\w-]+)\S* +- +(.*)", listed[1], re.M) if listed else []


def predecessors(step, after):
    """The steps that stand before `step`, at any distance."""
    found, left = set(), [step]
    while left:
        new = set(after.get(left.pop(), ())) - found
        found |= new
        left += new
    return found


def order():
    """(pass, flags that bring it) of all compilations together, in an order that each of them keeps."""
    after, flags_of = collections.defaultdict(dict), {}
    with tempfile.TemporaryDirectory() as folder:
        graph = pathlib.Path(folder) / "graph.mlir"
        run("braid-model", "--preset=mlp", "-o", graph)
        # From the last case to the first, whose flags then replace those of the others. Pipelines with a pass early
        # thus come first, and the same pass further behind in another pipeline gets a row of its own.
        for flags in reversed(CASES):
            seen, before = collections.Counter(), None
            for name in expanded(f"--pass-pipeline={run('braidc', graph, *flags.split(), '--print-pipeline').strip()}"):
                seen[name] += 1
                earlier = predecessors(before, after)
                while (name, seen[name]) in earlier:
                    seen[name] += 1
                # A check belongs to what it checks; flags decide how many there are.
                step = (name, before if "-verify-" in name else seen[name])
                flags_of[step] = flags
                after[step].update({before: None} if before else {})
                before = step
    return [(step[0], flags_of[step]) for step in graphlib.TopologicalSorter(after).static_order()]


@functools.cache
def choices():
    """(pass, option) -> the words of an option that is an enum."""
    words, name = {}, None
    for line in run("braid-opt", "--help").splitlines():
        if found := re.match(r" {6}--([\w-]+)", line):
            name = found[1]
        elif found := re.match(r" {8}--([\w-]+)=<([\w-]+(?:\|[\w-]+)+)>", line):
            words[name, found[1]] = found[2].split("|")
    return words


def option_of(name, option):
    """(option, default, meaning); the default of an enum is one of its words."""
    argument, default, meaning = option["argument"], option["defaultValue"].strip('"'), option["description"]
    if option.get("flagFallback"):
        meaning += f"; by default {option['flagFallback']}"
    words = choices().get((name, argument), [])
    if words:
        default = default.rsplit("::", 1)[-1].lower()
        meaning += f" (`{'`, `'.join(words)}`)"
    return argument, default, meaning


def options_of(records, definition):
    return [option_of(definition["argument"], records.get(option)) for option in definition["options"]]


def pass_section(records, definition):
    lines = [f"### `{definition['argument']}`", sentence(definition["summary"]), "", prose(definition["description"])]
    options = options_of(records, definition)
    if options:
        rows = [[f"`{name}`", f"`{default}`" if default else "", cell(text)] for name, default, text in options]
        lines += ["", table(["option", "default", "meaning"], rows)]
    return "\n".join(lines)


def pass_row(name, flags, known):
    records, definition = known.get(name, (None, None))
    if not definition:
        return [f"`{name}`", "MLIR's own", "", flags and f"`{flags}`"]
    names = ", ".join(f"`{option[0]}`" for option in options_of(records, definition))
    return [link(name), cell(definition["summary"]), names, flags and f"`{flags}`"]


def pipeline_row(name, meaning, known):
    return [f"`{name}`", cell(meaning), ", ".join(link(each) if each in known else f"`{each}`" for each in expanded(f"--{name}"))]


def passes_page():
    known = {}
    for path in MANUALS:
        records = Records(path)
        known.update({definition["argument"]: (records, definition) for definition in records.of("PassBase")})
    steps = order()
    names = list(dict.fromkeys(name for name, _ in steps if name in known))
    others = sorted(set(known) - set(names))
    return "\n".join([
        "# Passes", NOTE, "",
        "Every pass, in the order in which `braidc` runs them. `braidc … --print-pipeline` prints the pipeline of a compilation, and "
        "`braid-opt` runs any pass alone: `braid-opt --tg-decompose graph.mlir`. Each pass links to its description, which has IR before and after "
        "it; a test runs these examples.", "",
        "## In the pipeline", "Passes without flags run in every compilation; the others run with the flags shown.", "",
        table(["pass", "what it does", "options", "with"], [pass_row(name, flags, known) for name, flags in steps]), "",
        "## Pipelines", "", table(["pipeline", "what it does", "passes"], [pipeline_row(*each, known) for each in pipelines()]), "",
        "## Run by hand", "", table(["pass", "what it does", "options"], [pass_row(name, "", known)[:3] for name in others]), "",
        "## Descriptions", "", "\n\n".join(pass_section(*known[name]) for name in names + others), ""])


# ---- Dialects ----

def kind_of(record):
    return "attribute" if "Attr" in record["!superclasses"] else "operand"


TYPE_WORDS = {"64-bit float": "f64", "32-bit float": "f32", "bfloat16 type": "bf16", "32-bit signless integer": "i32",
              "64-bit signless integer": "i64", "1-bit signless integer": "i1"}


def type_text(summary):
    """MLIR's description of a type, by the names that types have in IR."""
    text, many = re.subn("^variadic of ", "", cell(summary).rstrip("."))
    text = re.sub(r"statically shaped tensor( \([^)]*\))?", "tensor", text).removesuffix(" values")
    for long, short in TYPE_WORDS.items():
        text = text.replace(long, short)
    *most, last = text.split(" or ")
    text = f"{', '.join(most)} or {last}" if "tensor of" in text and most else text
    return text + "; any number" * many


def operands(records, op):
    """(what, name, meaning) of everything that an op has."""
    for reference, name in op["arguments"]["args"]:
        record = records.get(reference)
        yield kind_of(record), name, record["summary"] or record.get("attrName") or ""
    for reference, name in op["results"]["args"]:
        yield "result", name, records.get(reference)["summary"]
    for reference, name in op["regions"]["args"]:
        yield "region", name, records.get(reference)["summary"]


def interfaces_of(records, op):
    traits = [records.get(trait) for trait in op["traits"]]
    return [trait["cppInterfaceName"] for trait in traits
            if "OpInterface" in trait["!superclasses"] and trait["cppNamespace"].startswith("::braid")]


def op_section(records, dialect, op):
    lines = [f"### `{dialect}.{op['opName']}`", sentence(op["summary"]), "", prose(op["description"])]
    rows = [[what, f"`{name}`", type_text(meaning)] for what, name, meaning in operands(records, op)]
    if rows:
        lines += ["", table(["", "name", "type or meaning"], rows)]
    interfaces = interfaces_of(records, op)
    if interfaces:
        lines += ["", "Interfaces: " + ", ".join(link(name) for name in interfaces) + "."]
    return "\n".join(lines)


def attribute_section(dialect, definition):
    sigil = "!" if "TypeDef" in definition["!superclasses"] else "#"
    return "\n".join([f"### `{sigil}{dialect}.{definition['mnemonic']}`", sentence(definition["summary"]), "", prose(definition["description"])])


def enum_row(records, enum):
    words = ", ".join(f"`{records.get(case)['str']}`" for case in enum["enumerants"])
    return [f"`{enum['className']}`", cell(enum["summary"]), words]


def dialect_part(records):
    dialect = next(d for d in records.of("Dialect") if f"/{d['name']}/" in records.path.lower())
    name, own = dialect["name"], lambda kind: [r for r in records.of(kind) if records.get(r["dialect"])["name"] == name]
    ops = sorted((op for op in records.of("Op") if records.get(op["opDialect"])["name"] == name), key=lambda op: op["opName"])
    attributes = sorted(own("AttrDef") + own("TypeDef"), key=lambda definition: definition["mnemonic"] or "")
    attributes = [definition for definition in attributes if definition["mnemonic"]]
    enums = [enum for enum in records.of("EnumAttrInfo", dialect["cppNamespace"]) if not enum["cppNamespace"].removeprefix(dialect["cppNamespace"])]
    parts = [f"## The `{name}` dialect", sentence(dialect["summary"]), "", prose(dialect["description"]), "",
             table(["op", "meaning"], [[link(f"{name}.{op['opName']}"), cell(op["summary"])] for op in ops])]
    if enums:
        parts += ["", table(["enum", "meaning", "values"], [enum_row(records, enum) for enum in enums])]
    sections = [attribute_section(name, definition) for definition in attributes] + [op_section(records, name, op) for op in ops]
    return "\n".join(parts) + "\n\n" + "\n\n".join(sections)


def interface_section(records, interface):
    rows = []
    for method in map(records.get, interface["methods"]):
        rows.append([f"`{method['name']}`", f"`{method['returnType'].replace('::mlir::', '').replace('::llvm::', '').replace('::std::', 'std::')}`",
                     cell(method["description"])])
    return "\n".join([f"### `{interface['cppInterfaceName']}`", prose(interface["description"]), "", table(["method", "returns", "meaning"], rows)])


def dialects_page():
    interfaces, parts = {}, []
    for records in map(Records, DIALECTS):
        parts.append(dialect_part(records))
        interfaces.update({i["cppInterfaceName"]: interface_section(records, i) for i in records.of("OpInterface", "::braid")})
    return "\n".join([
        "# Dialects", NOTE, "",
        "The ops, attributes and types of Braid's three dialects, and the interfaces through which passes see ops. [Design.md](Design.md) explains "
        "how the levels fit together, [Sharding.md](Sharding.md) how ops are sharded.", "",
        "\n\n".join(parts), "", "## Interfaces", "Passes name no ops; they ask these interfaces.", "", "\n\n".join(interfaces.values()), ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    stale = []
    for name, write in (("Passes.md", passes_page), ("Dialects.md", dialects_page)):
        page, text = ROOT / "docs" / name, re.sub(r"\n{3,}", "\n\n", write())
        if not arguments.check:
            page.write_text(text)
        elif not page.exists() or page.read_text() != text:
            stale.append(f"docs/{name}")
    if stale:
        sys.exit(f"{' and '.join(stale)}: not what the .td files and braidc say; run docs/reference.py")


if __name__ == "__main__":
    main()
