# Tests of passes and tools: a file tests one property, its RUN lines say how.
# Those under equivalence/ compare two ways to compute the same thing.
import importlib.util
import os
import shutil
import subprocess
import sysconfig

import lit.formats

config.name = "braid"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "unit", "goldens", "quick", "CMakeLists.txt"]
config.test_source_root = os.path.join(config.braid_source, "test")
config.test_exec_root = os.path.join(config.braid_build, "test")

config.quick = os.path.join(config.test_source_root, "quick") + os.pathsep
path = [os.path.join(config.braid_build, "bin"), config.llvm_tools, os.environ.get("PATH", "")]
if config.sanitized_compiler:
    path.insert(0, config.sanitized_compiler)
    config.available_features.add("sanitized")
elif shutil.which("c++"):
    # Generated programs are compiled in half the time, except where a folder's lit.local.cfg wants them as users have them.
    config.environment["BRAID_CXX"] = shutil.which("c++")
    path.insert(0, config.quick.rstrip(os.pathsep))
config.environment["PATH"] = os.pathsep.join(path)
for name in ("HOME", "CCACHE_DIR", "BRAID_LONG_TESTS", "OMP_NUM_THREADS", "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
# Idle threads of one test must not spin on the processors of another.
config.environment["OMP_WAIT_POLICY"] = "passive"
# mpirun's hwloc complains into the output of tests where /sys is not mounted.
config.environment["HWLOC_HIDE_ERRORS"] = "2"
config.environment["BRAID_BUILD"] = config.braid_build
config.substitutions.append(("%braid_build", config.braid_build))
config.substitutions.append(("%braid", config.braid_source))
config.substitutions.append(("%goldens", os.path.join(config.braid_source, "test", "goldens")))
# Graphs whose attention is peaked, and a comparison of every gradient of programs' first step.
first_step = os.path.join(config.test_source_root, "equivalence", "Inputs", "first_step.py")
config.substitutions.append(("%{peak}", f"python3 {first_step} peak"))
config.substitutions.append(("%{same_gradients}", f"python3 {first_step} run"))
config.substitutions.append(("%{compare_gradients}", f"python3 {first_step} compare"))
# Transports that the runtime was built with, and what starts their ranks.
for name in ("gloo", "mpi"):
    if os.path.exists(os.path.join(config.braid_build, "lib", "braid", f"libbraid_rt_{name}.a")):
        config.available_features.add(name)
# The CUDA compiler, which needs no GPU, and its libraries.
cuda = next((folder for folder in (os.environ.get("CUDA_HOME"), "/usr/local/cuda", os.path.join(config.braid_source, "build", "cuda"))
             if folder and os.path.exists(os.path.join(folder, "bin", "nvcc"))), None)
if not cuda and shutil.which("nvcc"):
    cuda = os.path.dirname(os.path.dirname(os.path.realpath(shutil.which("nvcc"))))
if cuda:
    config.available_features.add("nvcc")
    config.environment["CUDA_HOME"] = cuda
    config.environment["PATH"] += os.pathsep + os.path.join(cuda, "bin")
    for header, feature in (("nccl.h", "nccl"), ("cudnn.h", "cudnn")):
        if any(os.path.exists(os.path.join(folder, header)) for folder in (cuda + "/include", "/usr/include")):
            config.available_features.add(feature)
# What shows machine code; toolkits often lack it.
tools = os.path.join(config.braid_source, "build/cuda-tools/bin")
if shutil.which("cuobjdump", path=config.environment["PATH"] + os.pathsep + tools):
    config.available_features.add("cuobjdump")
    config.environment["PATH"] += os.pathsep + tools
# The header files of cuDNN's frontend, a Python package.
for folder in (os.environ.get("CUDNN_FRONTEND_INCLUDE_DIR"), cuda and cuda + "/include",
               os.path.join(config.braid_source, "build/cudnn-frontend/include"), sysconfig.get_path("purelib") + "/include"):
    if folder and os.path.exists(os.path.join(folder, "cudnn_frontend.h")):
        config.available_features.add("cudnn-frontend")
        config.environment["CUDNN_FRONTEND_INCLUDE_DIR"] = folder
        break
if shutil.which("clang-format-19"):
    config.available_features.add("clang-format")
# Libraries that scripts use.
for name in ("jinja2", "matplotlib", "tokenizers"):
    if importlib.util.find_spec(name):
        config.available_features.add(name)
# A small library of the tests stands in for tokenizers.
stand_in = os.path.join(config.braid_source, "test", "binary", "Inputs", "library")
config.substitutions.append(("%{with_tokenizers}", "env" if "tokenizers" in config.available_features else f"env PYTHONPATH={stand_in}"))
if shutil.which("nvim"):
    config.available_features.add("nvim")
if shutil.which("torchrun"):
    config.available_features.add("torchrun")
# A Python that has Hugging Face Transformers.
transformers_python = None
for python in filter(None, (os.environ.get("BRAID_TRANSFORMERS_PYTHON"), shutil.which("python3"))):
    look = "import sys, importlib.util as u; sys.exit(not all(map(u.find_spec, ('torch', 'transformers'))))"
    if subprocess.run([python, "-c", look], check=False).returncode == 0:
        config.available_features.add("transformers")
        config.substitutions.append(("%{transformers_python}", python))
        transformers_python = python
        break
# A Python that has JAX.
for python in filter(None, (os.environ.get("BRAID_JAX_PYTHON"), transformers_python, shutil.which("python3"))):
    look = "import sys, importlib.util as u; sys.exit(not all(map(u.find_spec, ('jax', 'safetensors'))))"
    if subprocess.run([python, "-c", look], check=False).returncode == 0:
        config.available_features.add("jax")
        config.substitutions.append(("%{jax_python}", python))
        break
if any(map(shutil.which, ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"))):
    config.available_features.add("browser")
if os.environ.get("BRAID_LONG_TESTS"):
    config.available_features.add("long")
