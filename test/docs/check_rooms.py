#!/usr/bin/env python3
"""The folders of the tree are used as docs/Design.md says: its section "Rooms" lists
them, and a file includes files of its own folder and of folders listed before it,
so there is no cycle.  Every folder with sources is in the list.

usage: check_rooms.py ROOT
"""

import pathlib
import re
import sys

TOP = ["dialects", "lib", "passes", "compiler", "include", "tools", "runtime"]
SUFFIXES = {".h", ".cpp", ".cu", ".cuh", ".td"}
INCLUDE = re.compile(r'^\s*#?\s*include\s+"([^"]+)"', re.M)
ROOM = re.compile(r"^\| `([\w./-]+)` \|", re.M)


def rooms_of(page):
    section = re.search(r"^## Rooms\n(.*?)(?=^## )", page, re.S | re.M)
    rooms = ROOM.findall(section.group(1)) if section else []
    if not rooms:
        sys.exit('docs/Design.md: the section "Rooms" has no table of folders')
    return rooms


def included(root, path):
    """The files of the tree that a file includes; the runtime's are named from its folder."""
    for name in INCLUDE.findall((root / path).read_text()):
        for candidate in (pathlib.Path(name), pathlib.Path("runtime") / name):
            if (root / candidate).is_file():
                yield candidate
                break


def main():
    root = pathlib.Path(sys.argv[1])
    rooms = rooms_of((root / "docs" / "Design.md").read_text())
    order = {room: number for number, room in enumerate(rooms)}
    problems = [f"docs/Design.md lists {room}, which is not a folder" for room in rooms if not (root / room).is_dir()]
    files = sorted(path.relative_to(root) for top in TOP for path in (root / top).rglob("*") if path.suffix in SUFFIXES)
    arrows = 0
    for path in files:
        room = str(path.parent)
        if room not in order:
            problems.append(f"{path}: docs/Design.md does not list {room}")
            continue
        for other in included(root, path):
            arrows += 1
            if order.get(str(other.parent), -1) > order[room]:
                problems.append(f"{path} includes {other}, but {room} stands before {other.parent} in docs/Design.md")
    print("\n".join(problems))
    print(f"{len(files)} files, {arrows} includes, {len(problems)} problems")
    return 1 if problems or not arrows else 0


if __name__ == "__main__":
    sys.exit(main())
