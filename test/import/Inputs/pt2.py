#!/usr/bin/env python3
"""Writes a program as torch.export.save does, from a short text. Needs no PyTorch.

  pt2.py TEXT -o FILE.pt2

A line is a statement:

  param w "h.0.w" f32[4,3]                a parameter: its name in the graph and in the state_dict, and its type
  buffer c "scale" f32[2] = 1 2.5         a buffer, with its values; constant is the same for a tensor constant
  input x f32[2,3]                        an input
  y = aten.linear.default(input=x, weight=w) : f32[2,4]
  a, b = aten.split.Tensor(self=y, split_size=2, dim=1) : f32[2,2], f32[2,2]
  return loss, y                          the outputs; `all` stands for the results of all calls
  mutate y "scale"                        an output that replaces a buffer
  module h.0.attn                         the module of the calls that follow
  schema 7                                another schema
  begin no_grad x y                       a region, with its operands; also grad, autocast bf16, autocast_off bf16
  end z = v, w = u                        its results, and the values of the region that they are
  paths batch.x tokens -> logits aux.0    names of inputs and outputs in Python; the first parts of inputs are arguments

Behind a type: `shares NAME` (the same memory as that tensor), `offset N` and `strides A,B` (elements that are apart in
that memory), `frozen` (requires_grad=False), `pickled`, `without values`. Arguments are Python literals, names of tensors, lists of both, element
types (`dtype=i64`), `cpu` (a device), `strided` (a layout), `contiguous` (a memory format) and `symbol` (a dynamic
size). A size that is a word is dynamic. Lines that begin with # or a capital letter are skipped. The place of a call in
the user's source is the text's file and line.
"""

import ast
import json
import re
import struct
import sys
import zipfile
from pathlib import Path

ELEMENTS = {"u8": (1, "B"), "i8": (2, "b"), "i16": (3, "h"), "i32": (4, "i"), "i64": (5, "q"), "f16": (6, "e"),
            "f32": (7, "f"), "f64": (8, "d"), "c64": (10, "2f"), "bool": (12, "?"), "bf16": (13, "H")}
SKIPPED = re.compile(r"\s*(#|[A-Z]|$)")
TENSOR = re.compile(r"(param|buffer|constant|input) (\w+)(?: \"([^\"]*)\")? (\w+\[[^]]*\])((?: (?:shares \w+|frozen|pickled"
                    r"|offset \d+|strides [\d,]+|without values))*)(?: = (.*))?$")
CALL = re.compile(r"(?:([\w, ]+?) = )?(\S+?)\((.*)\)(?: : (.+))?$")


def type_of(text):
    """Returns `dtype` and `sizes` of f32[2,3]."""
    element, sizes = re.fullmatch(r"(\w+)\[(.*)\]", text).groups()
    dims = [{"as_int": int(size)} if re.fullmatch(r"-?\d+", size) else {"as_expr": {"expr_str": size, "hint": None}}
            for size in filter(None, sizes.split(","))]
    return {"dtype": ELEMENTS[element][0], "sizes": dims}


def meta_of(text, requires_grad=False, words=""):
    described = type_of(text)
    strides, stride = [], 1
    for dim in reversed(described["sizes"]):
        strides.insert(0, {"as_int": stride})
        stride *= dim.get("as_int", 1)
    if given := re.search(r"strides ([\d,]+)", words):
        strides = [{"as_int": int(stride)} for stride in given[1].split(",")]
    offset = re.search(r"offset (\d+)", words)
    return {**described, "requires_grad": requires_grad, "device": {"type": "cpu", "index": None}, "strides": strides,
            "storage_offset": {"as_int": int(offset[1]) if offset else 0}, "layout": 7}


def bytes_of(text, values):
    """Returns the bytes of a tensor; without values, floats of both signs and integers 0."""
    element = text.partition("[")[0]
    code = ELEMENTS[element][1]
    count = 1
    for dim in type_of(text)["sizes"]:
        count *= dim["as_int"]
    if values is None:
        values = [(7 * i % 11 - 5) / 8 if element in ("f32", "f64") else 0 for i in range(count)]
    return b"".join(struct.pack("<" + code, value) for value in values)


def argument_of(node):
    """Returns the JSON of an argument."""
    if isinstance(node, ast.List):
        parts = [argument_of(part) for part in node.elts]
        kinds = {next(iter(part)) for part in parts}
        if kinds <= {"as_int"}:
            return {"as_ints": [part["as_int"] for part in parts]}
        if kinds <= {"as_float"}:
            return {"as_floats": [part["as_float"] for part in parts]}
        if kinds == {"as_tensor"}:
            return {"as_tensors": [part["as_tensor"] for part in parts]}
        return {"as_optional_tensors": [part if "as_tensor" in part else {"as_none": True} for part in parts]}
    if isinstance(node, ast.Name):
        word = node.id
        if word in ELEMENTS:
            return {"as_scalar_type": ELEMENTS[word][0]}
        other = {"cpu": {"as_device": {"type": "cpu", "index": None}}, "strided": {"as_layout": 7},
                 "contiguous": {"as_memory_format": 1}, "symbol": {"as_sym_int": {"as_name": "s0"}},
                 "inf": {"as_float": "Infinity"}}
        return other.get(word, {"as_tensor": {"name": word}})
    if isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Name):
        return {"as_float": "-Infinity"}
    value = ast.literal_eval(node)
    for kind, name in ((type(None), "as_none"), (bool, "as_bool"), (int, "as_int"), (float, "as_float"),
                       (str, "as_string")):
        if isinstance(value, kind):
            return {name: True if value is None else value}
    raise ValueError(f"no argument: {ast.dump(node)}")


class Text:
    """The parts of a program, as its lines are read."""

    def __init__(self, path):
        self.path, self.module, self.schema = path, "", 8
        self.inputs, self.outputs, self.nodes, self.results = [], [], [], []
        self.types, self.weights, self.constants, self.files = {}, {}, {}, {}
        self.entries = {}
        self.outer, self.calls = None, []

    def begin(self, kind, *operands):
        """Begins a region: the calls that follow are its graph's."""
        flags = {"no_grad": [{"as_bool": False}], "grad": [{"as_bool": True}]}.get(kind)
        if not flags:
            element, *operands = operands
            flags = [{"as_string": "cpu"}, {"as_scalar_type": ELEMENTS[element][0]}, {"as_bool": kind == "autocast"},
                     {"as_bool": False}]
        self.outer = (self.outer, self.nodes, kind, flags, operands)
        self.nodes = []

    def end(self, results):
        inner, (self.outer, self.nodes, kind, flags, operands) = self.nodes, self.outer
        pairs = [pair.split("=") for pair in results.split(",")]
        for result, value in pairs:
            self.types[result.strip()] = self.types[value.strip()]
        graph = {"inputs": [{"as_tensor": {"name": name}} for name in operands],
                 "outputs": [{"as_tensor": {"name": value.strip()}} for _, value in pairs], "nodes": inner,
                 "tensor_values": dict(self.types)}
        inputs = [*flags, {"as_graph": {"name": "submod", "graph": graph}}, *[{"as_tensor": {"name": name}} for name in operands]]
        name = "wrap_with_autocast" if kind.startswith("autocast") else "wrap_with_set_grad_enabled"
        self.nodes.append({"target": f"torch.ops.higher_order.{name}", "metadata": {},
                           "inputs": [{"name": "", "arg": argument, "kind": 1} for argument in inputs],
                           "outputs": [{"as_tensor": {"name": result.strip()}} for result, _ in pairs], "name": ""})

    def paths(self, inputs, outputs):
        """Writes the nested dicts whose keys are the parts of these paths."""
        def spec(paths):
            if paths == [[]]:
                return {"type": None, "context": None, "children_spec": []}
            keys = list(dict.fromkeys(path[0] for path in paths))
            return {"type": "builtins.dict", "context": json.dumps(keys),
                    "children_spec": [spec([path[1:] for path in paths if path[0] == key]) for key in keys]}

        def tuple_of(*parts):
            return {"type": "builtins.tuple", "context": "null", "children_spec": list(parts)}

        given, returned = [path.split(".") for path in inputs], [path.split(".") for path in outputs]
        arguments = spec(given)
        positional = json.loads(arguments["context"])
        in_spec = tuple_of(tuple_of(*arguments["children_spec"]),
                           {"type": "builtins.dict", "context": "[]", "children_spec": []})
        self.calls = [{"fqn": "", "signature": {"in_spec": json.dumps([1, in_spec]), "forward_arg_names": positional,
                                                "out_spec": json.dumps([1, spec(returned)])}}]

    def tensor(self, kind, name, target, type_text, words, values):
        self.types[name] = meta_of(type_text, kind == "param" and "frozen" not in words)
        argument = {"name": name}
        if kind == "input":
            self.inputs.append({"user_input": {"arg": {"as_tensor": argument}}})
            return
        key = {"param": "parameter", "buffer": "buffer", "constant": "tensor_constant"}[kind]
        body = {"arg": argument, f"{key}_name": target}
        if kind == "buffer":
            body["persistent"] = True
        self.inputs.append({key: body})
        if "without values" in words:
            return
        table, folder, prefix = ((self.constants, "data/constants/", "tensor") if kind == "constant" else
                                 (self.weights, "data/weights/", "weight"))
        shared = re.search(r"shares (\w+)", words)
        if shared:
            entry = self.entries[shared[1]]
        else:
            entry = f"{prefix}_{len(self.files)}"
            self.files[folder + entry] = bytes_of(type_text, None if values is None else [
                float(value) if type_text[0] in "fb" and not type_text.startswith("bool") else int(value)
                for value in values.split()])
        self.entries[name] = entry
        table[target] = {"path_name": entry, "is_param": kind == "param", "use_pickle": "pickled" in words,
                         "tensor_meta": {**meta_of(type_text, words=words),
                                         "requires_grad": kind == "param"}}

    def call(self, line, results, op, arguments, types):
        parsed = ast.parse(f"f({arguments})", mode="eval").body
        inputs = [{"name": keyword.arg, "arg": argument_of(keyword.value), "kind": 1} for keyword in parsed.keywords]
        names = [name.strip() for name in results.split(",")] if results else []
        for name, type_text in zip(names, re.findall(r"\w+\[[^]]*\]", types or "")):
            self.types[name] = meta_of(type_text)
        outputs = [{"as_tensors": [{"name": name} for name in names]}] if len(names) > 1 else [
            {"as_tensor": {"name": name}} for name in names]
        place = f"File \"{self.path}\", line {line}, in forward\n    ..."
        modules = "L__self__,,Net" + (f";L__self__x,{self.module},Block" if self.module else "")
        self.nodes.append({"target": f"torch.ops.{op}", "inputs": inputs, "outputs": outputs or [{"as_none": True}],
                           "metadata": {"stack_trace": place, "nn_module_stack": modules}, "name": names[0] if names else ""})
        self.results += names

    def statement(self, number, line):
        words = line.split()
        if words[0] == "return":
            names = [name.strip() for name in line[len("return "):].split(",")]
            for name in names:
                for each in (self.results if name == "all" else [name]):
                    self.outputs.append({"user_output": {"arg": {"as_tensor": {"name": each}}}})
        elif words[0] == "mutate":
            self.outputs.append({"buffer_mutation": {"arg": {"name": words[1]}, "buffer_name": words[2].strip('"')}})
        elif words[0] == "module":
            self.module = words[1] if len(words) > 1 else ""
        elif words[0] == "begin":
            self.begin(*words[1:])
        elif words[0] == "end":
            self.end(line[len("end "):])
        elif words[0] == "paths":
            arrow = words.index("->")
            self.paths(words[1:arrow], words[arrow + 1:])
        elif words[0] == "schema":
            self.schema = int(words[1])
        elif match := TENSOR.match(line):
            self.tensor(*match.groups())
        elif match := CALL.match(line):
            self.call(number, *match.groups())
        else:
            sys.exit(f"{self.path}:{number}: no statement: {line}")

    def program(self):
        graph = {"inputs": [], "outputs": [], "nodes": self.nodes, "tensor_values": self.types, "sym_int_values": {},
                 "sym_bool_values": {}, "is_single_tensor_return": False, "custom_obj_values": {}, "sym_float_values": {}}
        return {"graph_module": {"graph": graph, "signature": {"input_specs": self.inputs, "output_specs": self.outputs},
                                 "module_call_graph": self.calls},
                "opset_version": {"aten": 10}, "range_constraints": {},
                "schema_version": {"major": self.schema, "minor": 14}, "verifiers": ["TRAINING"], "torch_version": "2.10.0"}

    def entries_of_archive(self):
        """Returns the bytes of each entry by its name."""
        def table(config):
            return json.dumps({"config": config}).encode()

        return {"models/model.json": json.dumps(self.program()).encode(), **self.files,
                "data/weights/model_weights_config.json": table(self.weights),
                "data/constants/model_constants_config.json": table(self.constants),
                "archive_format": b"pt2", "archive_version": b"0", ".data/version": b"3\n", "byteorder": b"little"}


def read(lines, path, first=1):
    """Returns the entries of an archive for the lines of a text, which begin at line `first` of the file."""
    text = Text(path)
    for number, line in enumerate(lines, first):
        if not SKIPPED.match(line):
            text.statement(number, line.rstrip())
    return text.entries_of_archive()


def write(entries, path):
    """Writes a zip archive of stored entries below one folder, the same bytes each time."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, data in entries.items():
            archive.writestr(zipfile.ZipInfo(f"model/{name}", (1980, 1, 1, 0, 0, 0)), data)


def main():
    source, _, target = sys.argv[1:]
    write(read(Path(source).read_text().splitlines(), source), target)


if __name__ == "__main__":
    main()
