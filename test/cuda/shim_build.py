#!/usr/bin/env python3
"""Builds a folder of generated CUDA sources against the shim: a program that runs on any machine, and checks itself.

shim_build.py FOLDER -o PROGRAM     what `braidc --target=cuda --emit=cu -o FOLDER` wrote
shim_build.py FILE.cu... -o PROGRAM --no-runtime     kernels by themselves
shim_build.py FILE.cpp... -o PROGRAM                 tests of the runtime's sources
shim_build.py --precompile -o HEADER --dependences FILE     what programs include, compiled once for all, by the build

The libraries come from the build folder (targets braid_cuda_shim, braid_rt_cuda_shim, braid_rt).  What
the programs then read from the environment is told in shim/Recorder.h, shim/Failures.h and shim/Runtime.cpp.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
REPO = HERE.parent.parent


def flags(args):
    includes = [HERE / "shim" / "include", *args.include, REPO / "runtime"]
    macros = [f"-DBRAID_WITH_{name.upper()}" for name in args.transport]
    return ["-std=c++20", args.optimize, "-g1", "-Wall", "-Wextra", "-Wno-unknown-pragmas", "-Wno-psabi", "-fexceptions", "-DBRAID_WITH_NCCL",
            "-ffp-contract=off", *(f"-I{folder}" for folder in includes), *macros, *args.flag]


def precompiled(args):
    """The headers of programs (shim/Programs.h), as the build compiled them; the compiler falls back to their text."""
    header = args.build / "test" / "cuda" / "Programs.h"
    return ["-include", str(header)] if header.with_suffix(".h.gch").exists() else []


def precompile(args):
    """Writes the headers of programs in the compiler's form beside HEADER, which names them."""
    header = HERE / "shim" / "include" / "shim" / "Programs.h"
    pathlib.Path(args.output).write_text('#include "shim/Programs.h"\n')
    subprocess.run([args.cc, *flags(args), "-x", "c++-header", "-MD", "-MF", args.dependences, "-MT", f"{args.output}.gch",
                    str(header), "-o", f"{args.output}.gch"], check=True)


def compile_all(args, sources, folder):
    """Compiles, two at a time; returns the objects."""
    objects, running, failed = [], [], False
    for source in sources:
        target = folder / (source.name + ".o")
        objects.append(target)
        if target.exists() and args.reuse:
            continue
        headers = precompiled(args) if source.suffix == ".cu" else []
        command = [args.cc, *flags(args), *headers, "-x", "c++", "-c", str(source), "-o", str(target)]
        running.append(subprocess.Popen(command))
        if len(running) == 2:
            failed |= running.pop(0).wait() != 0
    for process in running:
        failed |= process.wait() != 0
    if failed:
        sys.exit(f"error: the shim cannot compile {', '.join(map(str, sources))}")
    return objects


def linker():
    """Returns a linker that is faster than the compiler's, if there is one."""
    return next((f"-fuse-ld={name}" for name in ("lld", "gold") if shutil.which(f"ld.{name}")), "-pthread")


def transports(args):
    """What the program is linked with beside the shim's NCCL: the archives and the words that stand beside them."""
    folder, words = args.build / "lib" / "braid", []
    for name in args.transport:
        words += [folder / f"libbraid_rt_{name}.a", *(folder / f"braid_rt_{name}.link").read_text().split()]
    return words


def libraries(args):
    shim = args.build / "test" / "cuda"
    if args.no_runtime:
        return [shim / "libbraid_cuda_shim.a"]
    archives = [shim / "libbraid_rt_cuda_shim.a", shim / "libbraid_cuda_shim.a", args.build / "lib" / "braid" / "libbraid_rt.a"]
    # The archives depend on each other; --wrap passes the program's actions to the shim.
    return ["-Wl,--wrap=br_action", "-Wl,--wrap=br_cuda_status", *transports(args), "-Wl,--start-group", *archives, "-Wl,--end-group", "-ldnnl", "-lcrypto", "-fopenmp"]


def build(args):
    sources = []
    for source in args.sources:
        sources += sorted(p for p in source.iterdir() if p.suffix in (".cu", ".cpp")) if source.is_dir() else [source]
        args.include.append(source if source.is_dir() else source.parent)
    if not sources:
        sys.exit("error: there are no sources in " + ", ".join(map(str, args.sources)))
    folder = pathlib.Path(f"{args.output}.objects")
    folder.mkdir(parents=True, exist_ok=True)
    objects = compile_all(args, sources, folder)
    subprocess.run([args.cc, linker(), *objects, *libraries(args), "-lpthread", "-ldl", "-o", args.output], check=True)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", nargs="*", type=pathlib.Path)
    parser.add_argument("-o", dest="output", required=True)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path(os.environ.get("BRAID_BUILD", REPO / "build")))
    parser.add_argument("--cc", default=os.environ.get("BRAID_CXX") or os.environ.get("CXX", "c++"))
    parser.add_argument("-O", dest="optimize", default="0", type=lambda level: "-O" + level)
    parser.add_argument("-I", dest="include", action="append", default=[], type=pathlib.Path)
    parser.add_argument("--flag", action="append", default=[], help="one more flag for the compiler")
    parser.add_argument("--transport", action="append", default=[], help="gloo or mpi, one more that ranks can talk over")
    parser.add_argument("--no-runtime", action="store_true", help="link the shim alone")
    parser.add_argument("--reuse", action="store_true", help="keep objects that are there")
    parser.add_argument("--precompile", action="store_true", help="compile the headers of programs")
    parser.add_argument("--dependences", help="where the files that these headers include are listed for the build")
    return parser.parse_args()


if __name__ == "__main__":
    try:
        options = parse()
        (precompile if options.precompile else build)(options)
    except subprocess.CalledProcessError as error:
        sys.exit(f"error: this fails: {' '.join(map(str, error.cmd))}")
