#!/usr/bin/env python3
"""Checks README.md: check_readme.py README.md EXAMPLES

It is short, names the families of docs/Models.md, shows pictures that are there and small, and its worked example shows
lines of the graph, the report and the kernel that are what the tools read and write (`…` stands for lines left out).
"""

import pathlib
import re
import subprocess
import sys
import tempfile

LENGTH = 170
PICTURE_BYTES = 200 << 10


def written(graph):
    """Returns braidc's output and files for the worked example, on two ranks, and on one for the kernel."""
    def run(*flags):
        command = ["braidc", str(graph), *flags]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        return result.stdout if result.returncode == 0 else sys.exit(f"{' '.join(command)} fails:\n{result.stderr}")
    with tempfile.TemporaryDirectory() as folder:
        report = run("--mesh=dp=2", "--emit=cpp", "-o", folder, "--report=-")
        return graph.read_text() + report + (pathlib.Path(folder) / "kernels.h").read_text()


def shown(page):
    """The lines of IR, of the report and of the kernel in the worked example."""
    section = re.search(r"^## A worked example\n(.*?)^## ", page, re.S | re.M)[1]
    blocks = re.findall(r"^```(\w+)\n(.*?)^```", section, re.S | re.M)
    return [line.strip() for kind, text in blocks if kind != "console" or "--report=-" in text
            for line in text.splitlines() if line.strip() and not line.startswith("$") and line.strip() != "…"]


def plain(text):
    return re.sub(r"[^a-z0-9]", "", text.lower())


def missing_families(page, models):
    """Returns the families of the table that the page's list of published models lacks."""
    table = re.search(r"^## Families\n(.*?)^## ", models.read_text(), re.S | re.M)[1]
    named = plain(re.search(r"^- \*A published model\.\*.*$", page, re.M)[0])
    return [family for family in re.findall(r"^\| `(\w+)` \|", table, re.M)[1:] if plain(family) not in named]


def wrong_pictures(page, folder):
    names = re.findall(r"!\[[^]]*\]\(([^)]+)\)", page)
    return [name for name in names if not (folder / name).exists() or (folder / name).stat().st_size > PICTURE_BYTES]


def main():
    path, examples = map(pathlib.Path, sys.argv[1:])
    page, problems = path.read_text(), []
    if len(page.splitlines()) > LENGTH:
        problems.append(f"{path} has {len(page.splitlines())} lines; {LENGTH} are enough")
    problems += [f"{path} does not name the family {name}" for name in missing_families(page, examples.parent / "docs/Models.md")]
    problems += [f"{path}: {name} is not there, or too large" for name in wrong_pictures(page, examples.parent)]
    lines, text = shown(page), re.sub(r" +", " ", written(examples / "mlp-by-hand" / "mlp.mlir"))
    problems += [f"the tools do not write: {line}" for line in lines if re.sub(r" +", " ", line) not in text]
    print("\n".join(problems + [f"{len(lines)} lines of the worked example, {len(problems)} problems"]))
    sys.exit(1 if problems or len(lines) < 10 else 0)


main()
