"""Writes a graph whose parameters have the names of all functions that generated programs call.

  place_names.py write GRAPH PROGRAM...   the graph, of the names in these folders of `braidc --emit=cpp|cu`
  place_names.py check GRAPH PROGRAM...   fails if these folders, of the graph, declare a place by such a name
"""

import pathlib
import re
import sys

CALL = re.compile(r"(?<![\w.:>])([A-Za-z_]\w*)(?:<[^;(){}]*>)?\(")
PARAMETER = '      %p{0}: tensor<4xf32> {{tg.param = #tg.param<"{1}", #tg.init<ones>, unit = "{1}">}}'


def names_called(folders):
    texts = [path.read_text() for folder in folders for path in pathlib.Path(folder).glob("step.c*")]
    names = {name for text in texts for name in CALL.findall(re.sub(r"//.*|#.*", "", text))}
    return sorted(name for name in names if re.search("[a-z]", name))


def write(graph, folders):
    names = names_called(folders)
    lines = ["module {", "  func.func @model("]
    lines.append(",\n".join(PARAMETER.format(number, name) for number, name in enumerate(names)))
    lines.append('      , %x: tensor<4xf32> {tg.input = "x", tg.role = #tg.role<features>})'
                 " -> (tensor<f32> {tg.role = #tg.role<loss>}) {")
    last = "%x"
    for number in range(len(names)):
        lines.append(f"    %s{number} = arith.mulf {last}, %p{number} : tensor<4xf32>")
        last = f"%s{number}"
    lines += [f"    %loss = tg.reduce mean {last} dims [0] : tensor<4xf32> -> tensor<f32>",
              "    return %loss : tensor<f32>", "  }", "}"]
    pathlib.Path(graph).write_text("\n".join(lines) + "\n")
    print(len(names), "names:", *names)


def check(graph, folders):
    called = set(re.findall(r'unit = "(\w+)"', pathlib.Path(graph).read_text()))
    declared = {name for folder in folders for path in pathlib.Path(folder).glob("step.*")
                for name in re.findall(r"constexpr uint64_t (\w+)[\[ ]", path.read_text())}
    if not any(name.startswith("place_") for name in declared):
        sys.exit("no place of another name was found")
    if both := sorted(called & declared):
        sys.exit(f"places hide the functions {', '.join(both)}")


{"write": write, "check": check}[sys.argv[1]](sys.argv[2], sys.argv[3:])
