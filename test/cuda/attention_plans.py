#!/usr/bin/env python3
"""attention_plans.py FOLDER: asks cuDNN for plans of the runtime's graphs of attention, for GPUs that are not here.

Compiles Inputs/attention_plans.cpp with the runtime's CudnnGraph.cpp in FOLDER and runs it with a driver that has no
device (fake_driver.py), so the library chooses engines, compiles their kernels, and says how much workspace they take.
CUDA_HOME is the toolkit, with cuDNN; CUDNN_FRONTEND_INCLUDE_DIR the folder of cudnn_frontend.h.
"""
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
RUNTIME = HERE.parent.parent / "runtime"


def main():
    folder, cuda = pathlib.Path(sys.argv[1]), pathlib.Path(os.environ["CUDA_HOME"])
    subprocess.run([sys.executable, HERE / "fake_driver.py", cuda / "include/cuda.h", folder], check=True)
    program = folder / "plans"
    subprocess.run([os.environ.get("CXX", "c++"), "-std=c++20", "-O0", "-Wall", "-Wextra", f"-I{RUNTIME}",
                    "-isystem", os.environ["CUDNN_FRONTEND_INCLUDE_DIR"], "-isystem", cuda / "include",
                    HERE / "Inputs/attention_plans.cpp", RUNTIME / "cuda/CudnnGraph.cpp", "-o", program, "-ldl"],
                   check=True)
    libraries = f"{folder}:{cuda / 'lib64'}:{os.environ.get('LD_LIBRARY_PATH', '')}"
    sys.exit(subprocess.run([program], env=dict(os.environ, LD_LIBRARY_PATH=libraries)).returncode)


if __name__ == "__main__":
    main()
