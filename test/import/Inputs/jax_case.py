#!/usr/bin/env python3
"""Wraps ops of StableHLO into the text of a program, or checks the messages for programs that are refused.

  jax_case.py FILE                    prints the program of a test
  jax_case.py --refuse FILE FOLDER    checks the messages of the programs in FILE

A program is a list of arguments, of statements, and of functions:

  arg NAME TYPE [donated]             an argument of @main: arg params['w'] tensor<4x8xf32>
  result PATH                         the place of the next result: result result[0]['w']
  %x = "stablehlo.add"(...) ...       an op of @main, as in MLIR's generic form
  func NAME (ARGUMENTS) -> TYPES      begins a private function, which ends at an empty line
  return %loss, ...: TYPES            ends @main or a function

Each op gets its line of the test as its location. With --refuse, lines `--- WORDS` separate programs; `refused: MESSAGE`
stands below the op at whose line braid-import must report MESSAGE, alone, with status 1; `braid-import: MESSAGE` is a
message without a place. `text: OLD => NEW` replaces text of the program, and `options: OPTION...` gives options.
"""

import re
import subprocess
import sys
from pathlib import Path


def module(lines, path):
    """Returns the text of a program, from (number, line) of its statements."""
    arguments, results, bodies, types = [], [], {"main": []}, {}
    current = "main"
    for number, line in lines:
        if match := re.match(r"arg (\S+) (\S+)( donated)?$", line):
            arguments.append(match.groups())
        elif match := re.match(r"result (\S+)$", line):
            results.append(match[1])
        elif match := re.match(r"func (\w+) \((.*)\) -> (.*)$", line):
            current = match[1]
            bodies[current] = []
            types[current] = match[2], match[3]
        elif match := re.match(r"return (.*?) : (.*)$", line):
            place = f' loc("{path}":{number}:1)'
            bodies[current].append(f'  "func.return"({match[1]}) : ({match[2]}) -> (){place}')
            types.setdefault("main", (None, match[2]))
            current = "main"
        elif re.match(r"\s*(%|\"|\^|\})", line):
            # Ops that open a region end in `({`, and their location stands behind the region.
            opens = line.rstrip().endswith("({") or line.rstrip() == "}, {" or line.lstrip().startswith("^")
            bodies[current].append(line if opens else f'  {line} loc("{path}":{number}:1)')
    text = '"builtin.module"() ({\n'
    for name, body in bodies.items():
        attributes = ""
        if name == "main":
            if any(donated for _, _, donated in arguments):
                donations = ("{jax.buffer_donor = true}" if donated else "{}" for _, _, donated in arguments)
                attributes += f"arg_attrs = [{', '.join(donations)}], "
            if results:
                attributes += "res_attrs = [" + ", ".join(f'{{jax.result_info = "{path}"}}' for path in results) + "], "
            block = ", ".join(f'%arg{index}: {type} loc("{leaf}")' for index, (leaf, type, _) in enumerate(arguments))
            inputs = ", ".join(type for _, type, _ in arguments)
        else:
            block, inputs = types[name][0], ", ".join(re.findall(r": (\S+?)(?:,|$)", types[name][0]))
        text += f'"func.func"() <{{{attributes}function_type = ({inputs}) -> ({types[name][1]}), sym_name = "{name}"}}> ({{\n'
        text += f"^bb0({block}):\n" + "\n".join(body) + "\n}) : () -> ()\n"
    return text + "}) : () -> ()\n"


def statements(lines):
    """Returns (number, line) of what is no directive of a test."""
    return [(number, line) for number, line in lines if not re.match(r"(RUN|CHECK|#|DEFINE|[A-Z]+(-\w+)*):", line)]


def check(path, first, lines, target):
    """Returns what is wrong with a program's message, or nothing."""
    kept, wanted, options, changes, last = [], None, [], [], 0
    for number, line in enumerate(lines, first):
        if line.startswith("refused: "):
            wanted = f"{path}:{last}: error: {line[len('refused: '):]}"
        elif line.startswith("braid-import: "):
            wanted = line
        elif line.startswith("options: "):
            options = line.split()[1:]
        elif line.startswith("text: "):
            changes.append(line[len("text: "):].split(" => "))
        elif line.strip():
            last = number
            kept.append((number, line))
    text = module(kept, path)
    for old, new in changes:
        text = text.replace(old, new)
    Path(target).write_text(text)
    done = subprocess.run(["braid-import", target, *options], capture_output=True, text=True, check=False)
    found = done.stderr.replace(f"{target}: ", "FILE: ").strip().split("\n")[0]
    if done.returncode != 1 or found != wanted:
        return f"{path}:{first}: status {done.returncode}\n  wanted {wanted}\n  found  {found}"
    return None


def main():
    if sys.argv[1] != "--refuse":
        path = Path(sys.argv[1])
        print(module(statements(enumerate(path.read_text().splitlines(), 1)), path.name), end="")
        return
    path, folder = Path(sys.argv[2]), Path(sys.argv[3])
    folder.mkdir(parents=True, exist_ok=True)
    lines = path.read_text().splitlines()
    starts = [number for number, line in enumerate(lines, 1) if line.startswith("---")]
    problems = [check(str(path), start + 1, lines[start:end - 1], str(folder / "program.mlir"))
                for start, end in zip(starts, [*starts[1:], len(lines) + 1])]
    problems = [problem for problem in problems if problem]
    print("\n".join([*problems, f"{len(starts)} programs, {len(problems)} wrong"]))
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
