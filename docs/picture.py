#!/usr/bin/env python3
"""Draws docs/picture.svg: a graph, the program that braidc makes of it for a rank, and
a kernel of that program, all from a run of the tools on the PATH.

    docs/picture.py [-o FILE.svg]
    docs/picture.py --check [FILE.svg]    # whether its text is what the tools write today
"""

import argparse
import html
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
GRAPH = HERE.parent / "examples" / "mlp-by-hand" / "mlp.mlir"
FLAGS = ["--mesh=dp=2", "--bucket-mb=0", "--link=2,1"]
KERNEL = "gelu"  # the op whose way the picture follows
LETTERS = 41  # of a line of code

WIDTH, TOP = 1020, 108
SANS = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"
MONO = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
# Fill and line of each kind of box.
COLORS = {"forward": ("#dbeafe", "#2563eb"), "backward": ("#ffedd5", "#ea580c"), "update": ("#dcfce7", "#16a34a"),
          "communication": ("#f3e8ff", "#9333ea"), "data": ("#f1f5f9", "#64748b")}
INK, MUTED, RULE = "#0f172a", "#475569", "#cbd5e1"


def run(*command):
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} fails:\n{result.stderr}")
    return result.stdout


# ---- What is drawn ----

def read_graph():
    """The chain of ops from the features to the loss: (op, shape, other operands)."""
    text = run("braid-opt", GRAPH)
    names = dict(re.findall(r'(%arg\d+): [^{]*\{tg\.(?:param = #tg\.param<|input = )"([^"]+)"', text))
    chain, made = [], set()
    for result, op, rest, shape in re.findall(r"(%\d+) = (?:\w+\.)?(\w+) (.*?) : .*?tensor<([^<>]*)>$", text, re.M):
        operands = re.findall(r"%\w+", rest)
        if op == "broadcast" and operands[0] in names:
            names[result] = names[operands[0]]
            continue
        others = [names[operand] for operand in operands if operand in names]
        start = others.pop(0) if not chain else None
        chain.append((op, " x ".join(shape.split("x")[:-1]) or "scalar", others, start))
        made.add(result)
    return chain


class Action:
    """A line of a rank's program: a computation, or the start or wait of a collective."""

    def __init__(self, what, made, phase, starts, waits):
        self.what, self.made, self.phase, self.starts, self.waits = what, made, phase, starts, waits

    def computes(self):
        return not self.starts and not self.waits


def read_program(step):
    body = re.search(r"br_status run\(.*?\n}", step[step.index("namespace at::step_train"):], re.S)[0]
    phase, actions = "forward", []
    for part in re.split(r"\n\n", body):
        heading = re.search(r"// ---- (\w+)", part)
        phase = heading[1] if heading else phase
        comment = re.search(r"// \d+: (.*)", part)
        if comment:
            what, _, made = re.split(r"[,;]", comment[1])[0].partition(" -> ")
            actions.append(Action(what, made, phase, re.findall(r"br_start\(ctx, (\d+)", part), re.findall(r"br_wait\(ctx, (\d+)", part)))
    return actions


def read_kernel(kernels):
    return re.search(rf"^static void {KERNEL}_kernel\(.*?^}}$", kernels, re.S | re.M)[0].splitlines()


def read_launch(step):
    """The call of the kernel and its comment, in the program, without the mark between them."""
    text = re.search(rf"\n((?: *//.*\n)+)(?: *m\.at\(\d+\);\n)?( *launch\w*\([^;]*\b{KERNEL}_kernel\b[^;]*;)", step)
    return [line.strip() for line in (text[1] + text[2]).splitlines()]


# ---- How it is drawn ----

class Picture:
    def __init__(self):
        self.parts, self.under = [], []

    def add(self, text):
        self.parts.append(text)

    def text(self, x, y, text, size=12, color=INK, anchor="start", font=SANS, weight="normal", turn=None):
        place = f'transform="translate({x} {y}) rotate({turn})"' if turn else f'x="{x}" y="{y}"'
        self.add(f'<text {place} font-family="{font}" font-size="{size}" fill="{color}" text-anchor="{anchor}" '
                 f'font-weight="{weight}" xml:space="preserve">{html.escape(text, quote=False)}</text>')

    def box(self, x, y, width, height, kind, radius=5):
        fill, line = COLORS[kind]
        self.add(f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="{radius}" fill="{fill}" stroke="{line}"/>')

    def line(self, path, color=MUTED, width=1.2, dash="", arrow=True):
        end = ' marker-end="url(#arrow)"' if arrow else ""
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        self.under.append(f'<path d="{path}" fill="none" stroke="{color}" stroke-width="{width}"{dashes}{end}/>')

    def heading(self, x, number, title, subtitle):
        self.add(f'<circle cx="{x + 11}" cy="34" r="11" fill="{INK}"/>')
        self.text(x + 11, 38.5, str(number), 13, "#ffffff", "middle", weight="bold")
        self.text(x + 30, 39, title, 16, weight="600")
        for row, line in enumerate(subtitle):
            self.text(x, 64 + 17 * row, line, 11.5, MUTED, font=MONO if row == 0 else SANS)

    def svg(self, height):
        arrow = (f'<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
                 f'<path d="M0 0L8 4L0 8z" fill="{MUTED}"/></marker></defs>')
        card = f'<rect x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1}" rx="10" fill="#ffffff" stroke="{RULE}"/>'
        return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img">',
                          "<title>A graph, the program of a rank, and a kernel</title>", arrow, card, *self.under, *self.parts, "</svg>", ""])


def draw_graph(picture, x, chain):
    """Ops one below the other, parameters and data at their left; returns where the op to follow is, and the end."""
    wide, pill, gap, high, step = 112, 106, 18, 30, 45
    left, y, follow = x + pill + gap, TOP, None
    first = next(start for *_, start in chain if start)
    for op, shape, others, start in [(first, None, [], None), *chain, ("loss", None, [], None)]:
        isData = shape is None
        picture.box(left, y, wide, high, "data" if isData else "forward", 15 if isData else 5)
        picture.text(left + wide / 2, y + (20 if isData else 13), op, 12, anchor="middle", font=MONO)
        if not isData:
            picture.text(left + wide / 2, y + 25, shape, 9.5, MUTED, "middle", MONO)
        for name in others:
            picture.box(x, y + 3, pill, 24, "data", 12)
            picture.text(x + pill / 2, y + 19, name, 10, anchor="middle", font=MONO)
            picture.line(f"M{x + pill} {y + 15}H{left - 2}")
        if op != "loss":
            picture.line(f"M{left + wide / 2} {y + high}V{y + step - 2}")
        if op == KERNEL:
            follow = (left + wide, y + high / 2)
        y += step
    return follow, y


def draw_program(picture, x, actions):
    """Computations one below the other, collectives beside them from start to wait."""
    wide, high, step, small = 262, 20, 24, 9
    lane, bar = x + wide + 14, 19
    y, follow, begun, columns = TOP, None, {}, []
    for action in actions:
        if action.computes():
            picture.box(x, y, wide, high, action.phase)
            name, _, shape = action.made.partition(" [")
            name = re.sub(r"@.*", "", name).removeprefix("tg.")
            if action.phase == "update":  # by the parameter, whose moments it names
                name = re.sub(r"^update |\.exp_avg$", "", name)
            label = action.what if name == action.what else f"{action.what} → {name}"
            picture.text(x + 8, y + 14, re.sub(r" of \d+ tuples", "", label), 10.5, font=MONO)
            picture.text(x + wide - 8, y + 14, shape.rstrip("]"), 9.5, MUTED, "end", MONO)
            follow = ((x, y + high / 2), (x + wide, y + high / 2)) if action.what == KERNEL else follow
            y += step
            continue
        for number in action.starts:
            column = next((i for i, free in enumerate(columns) if free), len(columns))
            columns[column:column + 1] = [False]
            begun[number] = (column, y, re.sub(r"@.*| \[.*", "", action.made))
        y += small
        for number in action.waits:
            column, top, name = begun.pop(number)
            columns[column] = True
            picture.box(lane + column * (bar + 4), top, bar, y - top - 3, "communication", 4)
            picture.text(lane + column * (bar + 4) + 13.5, (top + y - 3) / 2, name, 10, anchor="middle", font=MONO, turn=-90)
            picture.line(f"M{lane + column * (bar + 4)} {y - 3}H{x + wide + 3}", COLORS["communication"][1], 0.8, "2 2", arrow=False)
    return follow, y, lane + len(columns) * (bar + 4)


def folded(line):
    """A line in lines that fit the box: code breaks behind commas, comments between words."""
    indent, rows = re.match(" *", line)[0], [""]
    comment = "// " if line.strip().startswith("//") else ""
    for word in re.findall(r"\S+\s*" if comment else r"[^,]+,?\s*", line.strip()):
        if len(indent + rows[-1] + word.rstrip()) > LETTERS:
            rows.append("    " * (not comment) + comment)
        rows[-1] += word
    return [indent + row for row in rows]


def draw_code(picture, x, y, lines):
    text = re.sub(r",\n {9,}", ", ", "\n".join(lines))  # what clang-format has aligned with a bracket
    rows = [row for line in text.split("\n") for row in folded(line)]
    height = 16 * len(rows) + 16
    picture.add(f'<rect x="{x}" y="{y}" width="{WIDTH - x - 20}" height="{height}" rx="6" fill="#f8fafc" stroke="{RULE}"/>')
    for number, row in enumerate(rows):
        picture.text(x + 10, y + 20 + 16 * number, row, 10.5, MUTED if "//" in row else INK, font=MONO)
    return y + height


def draw():
    with tempfile.TemporaryDirectory() as folder:
        run("braidc", GRAPH, *FLAGS, "--emit=cpp", "-o", folder)
        sources = pathlib.Path(folder)
        step, kernels = (sources / "step.cpp").read_text(), (sources / "kernels.h").read_text()
    picture = Picture()
    graph_x, program_x = 20, 310
    picture.heading(graph_x, 1, "A graph", ["mlp.mlir: 64 rows", "one device, forward only"])
    node, bottom = draw_graph(picture, graph_x, read_graph())
    (left, right), end, kernel_x = draw_program(picture, program_x, read_program(step))
    kernel_x += 26
    picture.heading(program_x, 2, "A rank's program", ["braidc mlp.mlir --mesh=dp=2: 32 rows a rank", "differentiated, sharded, fused, scheduled, in memory"])
    picture.heading(kernel_x, 3, "A kernel", ["kernels.h: C++ or CUDA C++", f"what {KERNEL} has become"])
    last = draw_code(picture, kernel_x, TOP, read_kernel(kernels))
    picture.text(kernel_x, last + 30, "step.cpp: its launch, on places in the arena", 11.5, MUTED)
    last = draw_code(picture, kernel_x, last + 40, read_launch(step))
    picture.line(f"M{node[0]} {node[1]}C{node[0] + 30} {node[1]} {left[0] - 34} {left[1]} {left[0] - 3} {left[1]}", INK, 1.6)
    picture.line(f"M{right[0]} {right[1]}H{kernel_x - 3}", INK, 1.6)
    legend_y = max(bottom, end, last) + 14
    x = graph_x
    for kind, text in (("data", "data"), ("forward", "forward"), ("backward", "backward"), ("update", "update"), ("communication", "all_reduce, from start to wait")):
        picture.box(x, legend_y, 14, 14, kind, 3)
        picture.text(x + 20, legend_y + 11.5, text, 12, MUTED)
        x += 46 + 7 * len(text)
    return picture.svg(round(legend_y + 34))


def texts_of(picture):
    """In order."""
    return re.findall(r"<text[^>]*>(.*?)</text>", picture)


def check(path):
    shown, drawn = texts_of(path.read_text()), texts_of(draw())
    if shown == drawn:
        return
    pair = next(((a, b) for a, b in zip(shown, drawn) if a != b), (f"{len(shown)} texts", f"{len(drawn)} texts"))
    sys.exit(f"{path}: not what the tools write; run docs/picture.py: it shows '{pair[0]}', they write '{pair[1]}'")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", default=HERE / "picture.svg", type=pathlib.Path, metavar="FILE.svg")
    parser.add_argument("--check", nargs="?", const=HERE / "picture.svg", type=pathlib.Path, metavar="FILE.svg")
    arguments = parser.parse_args()
    if arguments.check:
        return check(arguments.check)
    arguments.o.write_text(draw())


if __name__ == "__main__":
    main()
