#!/usr/bin/env python3
"""emitted_folder.py GRAPH FOLDER OPTION...: compiles what goes to a machine with GPUs, from nothing but what goes there.

Writes the program of GRAPH to FOLDER as `braidc OPTION... --emit=dir` does, with cuDNN's frontend beside it as
scripts/gpu_visit carries it. CMake says how each source is compiled, there as here. The program is compiled whole, the
runtime for CUDA in a few groups, without making objects, and the rest of the runtime, which every build compiles, is preprocessed: its
headers are there. Headers come from FOLDER, the toolkit, and the system: a folder of this repository among the include
folders is an error.

The two sources that include cuDNN's frontend are preprocessed, too: its headers take the compiler half a minute, and the
build has compiled these sources with the same headers.

--frontend         compiles these two as the others
--only PATTERN     sources whose path has this in it
--without HEADER   takes a header away, which must be missed
"""
import argparse
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
from gpu_visit import build  # noqa: E402


def write(graph, folder, options):
    subprocess.run(["braidc", graph, *options, "--emit=dir", "-o", folder], check=True)
    shutil.rmtree(folder / "cudnn-frontend", ignore_errors=True)
    build.carry_frontend(folder, rehearsal=False)


def configure(folder):
    """The command of each source of the folder, from CMake."""
    subprocess.run(["cmake", "-S", folder, "-B", folder / "build", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", "-DCMAKE_UNITY_BUILD=OFF",
                    f"-DCUDNN_FRONTEND_INCLUDE_DIR={folder / 'cudnn-frontend/include'}"], check=True, stdout=subprocess.DEVNULL)
    return json.loads((folder / "build/compile_commands.json").read_text())


FRONTEND = ("/Attention.cpp", "/CudnnGraph.cpp")


# Groups of the runtime's sources for CUDA.  Neighbours by name, which say the same of different types, are in different ones.
GROUPS = 5


def grouped(chosen, folder):
    """The entries in groups: sources of the runtime for CUDA that CMake compiles alike, the others alone."""
    alike = {}
    for entry in chosen:
        command = re.sub(r" -o \S+", "", entry["command"].replace(entry["file"], ""))
        isJoined = re.search("/runtime/(cuda|gpu)/", entry["file"]) and not entry["file"].endswith(FRONTEND)
        alike.setdefault(command if isJoined else entry["file"], []).append(entry)
    for entries in alike.values():
        yield from filter(None, (entries[i::GROUPS] for i in range(GROUPS)))


def compile_group(entries, folder, frontend):
    """Returns the faults of sources. Compiles them as one, which reads headers once, else separately."""
    if len(entries) > 1:
        joined = folder / "runtime/cuda/joined.cpp"
        joined.write_text("".join(f'#include "{entry["file"]}"\n' for entry in entries))
        command = entries[0]["command"].replace(entries[0]["file"], str(joined)) + " -Wno-subobject-linkage"
        if not compile_source({**entries[0], "file": str(joined), "command": command}, folder):
            return [""] * len(entries)
    return [compile_source(entry, folder, frontend) for entry in entries]


def include_folders(words):
    for i, word in enumerate(words):
        if word in ("-I", "-isystem", "-iquote"):
            yield words[i + 1]
        elif word.startswith(("-I", "-isystem")):
            yield word.removeprefix("-isystem").removeprefix("-I").removeprefix("=")


def compile_source(entry, folder, frontend=True):
    """Returns the fault of a source, or an empty text. Sources that include the frontend may be preprocessed only."""
    words = shlex.split(entry["command"])
    for place in include_folders(words):
        path = pathlib.Path(place).resolve()
        if path.is_relative_to(ROOT) and not path.is_relative_to(folder):
            return f"includes {path}, which does not go with the folder"
    path = pathlib.Path(entry["file"]).relative_to(folder)
    if path.parts[0] == "runtime":
        output = words.index("-o")
        words = [word for word in words[:output] + words[output + 2:] if not word.startswith("-O") and word != "-c"]
        compiles = path.parts[1] in ("cuda", "gpu") and (frontend or not entry["file"].endswith(FRONTEND))
        words += ["-O0", "-fsyntax-only"] if compiles else ["-E", "-o", os.devnull]
    done = subprocess.run(words, cwd=entry["directory"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.stdout[-2000:] if done.returncode or "warning" in done.stdout else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graph", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--without", default="")
    parser.add_argument("--frontend", action="store_true")
    args, options = parser.parse_known_args()
    folder = args.folder.resolve()
    write(args.graph, folder, options)
    commands = configure(folder)
    if args.without:
        (folder / args.without).unlink()
    failed = 0
    chosen = [entry for entry in commands if args.only in entry["file"]]
    for entries in grouped(chosen, folder):
        for entry, wrong in zip(entries, compile_group(entries, folder, args.frontend)):
            if wrong:
                failed += 1
                print(f"{pathlib.Path(entry['file']).relative_to(folder)}: {wrong}", flush=True)
    names = ", ".join(sorted({pathlib.Path(entry["file"]).name for entry in chosen}))
    print(f"{len(chosen)} sources, {failed} of which do not compile: {names}")
    sys.exit(1 if failed or not chosen else 0)


if __name__ == "__main__":
    main()
