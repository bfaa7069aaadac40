"""Sources in one go, and in two through the text of a level: the same bytes.

usage: levels.py FOLDER GRAPH:OPTIONS...
"""
import pathlib
import subprocess
import sys

folder = pathlib.Path(sys.argv[1])


def compile_to(emit, source, output, options):
    done = subprocess.run(["braidc", str(source), f"--emit={emit}", "-o", str(output), *options],
                          capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{source} --emit={emit} {' '.join(options)}:\n{done.stderr}")


def files_of(path):
    return {file.name: file.read_bytes() for file in path.iterdir()}


pairs = 0
for number, case in enumerate(sys.argv[2:]):
    graph, _, text = case.partition(":")
    options = text.split()
    whole = folder / f"whole-{number}"
    sources = "cu" if any(option.startswith("--target=cuda") for option in options) else "cpp"
    compile_to(sources, folder / graph, whole, options)
    # What is planned needs to hear only what it is for.
    target = [option for option in options if option.startswith("--target")]
    for level, again in (("exec", options), ("memory", target)):
        if level == "exec" and "--recompute=auto" in options:
            continue  # which needs memory plans
        planned, parts = folder / f"{level}-of-{number}.mlir", folder / f"{level}-{number}"
        compile_to(level, folder / graph, planned, options)
        compile_to(sources, planned, parts, again)
        pairs += 1
        for name, text in files_of(whole).items():
            if files_of(parts).get(name) != text:
                sys.exit(f"{graph} {' '.join(options)}: {name} differs through --emit={level}")
print(f"{pairs} ways give the same sources")
