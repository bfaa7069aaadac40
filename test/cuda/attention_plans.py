#!/usr/bin/env python3
"""attention_plans.py FOLDER: asks cuDNN for plans of the runtime's graphs of attention, for GPUs that are not here.

Compiles Inputs/attention_plans.cpp, which includes the runtime's CudnnGraph.cpp, in FOLDER and runs it with a driver
that has no device (fake_driver.py), so the library chooses engines, compiles their kernels, and says how much workspace
they take.
The graphs are those of a list of shapes, and those of every example, as braidc writes them to model.cpp.
CUDA_HOME is the toolkit, with cuDNN; CUDNN_FRONTEND_INCLUDE_DIR the folder of cudnn_frontend.h.
"""
import json
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
RUNTIME = ROOT / "runtime"
GPUS = (80, 90, 100)

# Of each example with attention: the words of braid-model, and of braidc.
EXAMPLES = {
    "gpt-text": (["--preset=gpt-small", "--batch", 16, "--seq", 128], []),
    "gpt2-124m": ([ROOT / "examples/gpt2-124m/config.json", "--batch", 64, "--seq", 1024], []),
    "gpt2-124m in any order": ([ROOT / "examples/gpt2-124m/config.json", "--batch", 64, "--seq", 1024], ["--attention-order=any"]),
    "llama-tiny": ([ROOT / "examples/llama-tiny/config.json", "--batch", 16, "--seq", 128], []),
    "llama-2x2": ([ROOT / "examples/llama-tiny/config.json", "--batch", 16, "--seq", 32], ["--mesh=dp=2,tp=2"]),
    "llama-1b": ([HERE / "Inputs/llama-wide.json", "--batch", 8, "--seq", 2048], []),
    "llama-3d": (["70b.json", "--batch", 1, "--seq", 8192], ["--mesh=tp=8"]),
    "moe": ([ROOT / "examples/moe/config.json", "--batch", 16, "--seq", 128, "--capacity-factor=1.25"], []),
    "finetune": ([ROOT / "examples/finetune/model", "--batch", 8, "--seq", 64], []),
    "long-context": ([ROOT / "examples/long-context/config.json", "--batch", 1, "--seq", 32768], ["--sampling=off"]),
}


def write_examples(folder):
    """Returns a table of the descriptors of all examples, as C++."""
    # One of 80 layers; all have the same attention.
    config = {**json.loads((ROOT / "examples/llama-3d/llama-70b.json").read_text()), "num_hidden_layers": 1}
    (folder / "70b.json").write_text(json.dumps(config))
    tables, entries = "", ""
    for name, (words, options) in EXAMPLES.items():
        subprocess.run(["braid-model", *map(str, words), "-o", "graph.mlir"], check=True, cwd=folder)
        for gpu in GPUS:
            subprocess.run(["braidc", folder / "graph.mlir", f"--target=cuda:sm_{gpu}", "--precision=bf16", "--attention=library",
                            *options, "--emit=cu", "-o", folder / "program"], check=True, stderr=subprocess.DEVNULL)
            rows = re.search(r"br_attention_desc attentions\[\] = (\{.*?^\});", (folder / "program/model.cpp").read_text(), re.M | re.S)
            symbol = re.sub(r"\W", "_", f"{name}_{gpu}")
            tables += f"static const br_attention_desc {symbol}[] = {rows[1]};\n"
            entries += f'    {{"{name}", {gpu}, {symbol}, std::size({symbol})}},\n'
    (folder / "examples.inc").write_text(f"{tables}static const Example examples[] = {{\n{entries}}};\n")



def main():
    folder, cuda = pathlib.Path(sys.argv[1]), pathlib.Path(os.environ["CUDA_HOME"])
    subprocess.run([sys.executable, HERE / "fake_driver.py", cuda / "include/cuda.h", folder], check=True)
    write_examples(folder)
    program = folder / "plans"
    subprocess.run([os.environ.get("CXX", "c++"), "-std=c++20", "-O0", "-Wall", "-Wextra", "-Wno-missing-field-initializers",
                    f"-I{RUNTIME}", f"-I{folder}",
                    "-isystem", os.environ["CUDNN_FRONTEND_INCLUDE_DIR"], "-isystem", cuda / "include",
                    HERE / "Inputs/attention_plans.cpp", "-o", program, "-ldl"],
                   check=True)
    libraries = f"{folder}:{cuda / 'lib64'}:{os.environ.get('LD_LIBRARY_PATH', '')}"
    sys.exit(subprocess.run([program], env=dict(os.environ, LD_LIBRARY_PATH=libraries)).returncode)


if __name__ == "__main__":
    main()
