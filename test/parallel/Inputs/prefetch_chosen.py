"""How far ahead units are gathered, over links of several rates, beside what was asked for.

prefetch_chosen.py GRAPH FOLDER
"""
import pathlib
import subprocess
import sys

graph, folder = sys.argv[1], pathlib.Path(sys.argv[2])


def schedule(link, *options):
    """Of the program that trains; each program has its own."""
    path = folder / "schedule.mlir"
    subprocess.run(["braidc", graph, "--mesh=dp=2", "--zero=3", f"--link={link}", "--emit=memory", "-o", str(path), *options],
                   check=True, stderr=subprocess.DEVNULL)
    return path.read_text().split("exec.program @train")[1].split("exec.program @")[0]


def chosen(link):
    auto = schedule(link)
    return next((units for units in range(9) if schedule(link, f"--prefetch={units}") == auto), None)


# Microseconds and GB/s: gathers that take no time, and gathers that take longer than what hides them.
fast, slow = chosen("1,100"), chosen("20,0.3")
assert fast == 1, f"{fast} units ahead over a fast link"
assert slow is not None and slow > 1, f"{slow} units ahead over a slow link"
