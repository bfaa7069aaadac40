"""Builds programs and tools: here, or on the device machine if the carried binaries do not start."""

import os
import pathlib
import re
import shlex
import shutil
import sysconfig

from . import machine, tools

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent

# Stands beside the folders of programs. Their own CMakeLists.txt keep braidc's text, except for names.
TOGETHER = """\
# All programs of a visit, the runtime that they share, and the tools that look at the machine.
cmake_minimum_required(VERSION 3.24)
set(CMAKE_CUDA_ARCHITECTURES {arch} CACHE STRING "The GPUs to compile for: 80, 90, 90a, 100")
set(CMAKE_CUDA_RUNTIME_LIBRARY Shared)
project(gpu_visit LANGUAGES CXX CUDA)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${{CMAKE_BINARY_DIR}}/bin)
set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL TRUE)
set(BRAID_RT_CPU OFF)
option(BRAID_RT_TOKENS "Ranks of several processes" OFF)
add_subdirectory(runtime)
file(GLOB programs CONFIGURE_DEPENDS ${{CMAKE_CURRENT_SOURCE_DIR}}/programs/*/CMakeLists.txt)
foreach(program IN LISTS programs)
  get_filename_component(folder ${{program}} DIRECTORY)
  add_subdirectory(${{folder}})
endforeach()
add_executable(copy_rate tools/copy_rate.cu)
if(TARGET braid_rt_nccl)
  add_executable(nccl_alone tools/nccl_alone.cpp)
  target_link_libraries(nccl_alone PRIVATE braid_rt_nccl)
endif()
"""

# Replaces the copy of the runtime in each folder, so that each folder can still be built alone.
SHARED_RUNTIME = """\
if(NOT TARGET braid_rt)
  add_subdirectory(${CMAKE_CURRENT_SOURCE_DIR}/../../../runtime ${CMAKE_CURRENT_BINARY_DIR}/shared)
endif()
"""
TOOLS = {"copy_rate": "copy_rate.cu", "nccl_alone": "nccl_alone.cpp"}

# Headers and libraries that toolkits often lack and Python packages bring: the CMake variable, the path in a toolkit,
# and the path among packages. A header's variable names its folder.
LIBRARIES = [
    ("CUDNN_INCLUDE_DIR", "include/cudnn.h", "nvidia/*/include/cudnn.h"),
    ("CUDNN_FRONTEND_INCLUDE_DIR", "include/cudnn_frontend.h", "include/cudnn_frontend.h"),
    ("NVRTC_INCLUDE_DIR", "include/nvrtc.h", "nvidia/*/include/nvrtc.h"),
    ("CUBLASLT_INCLUDE_DIR", "include/cublasLt.h", "nvidia/*/include/cublasLt.h"),
    ("CUDA_cublasLt_LIBRARY", "lib64/libcublasLt.so", "nvidia/*/lib/libcublasLt.so*"),
    ("NCCL_INCLUDE_DIR", "include/nccl.h", "nvidia/*/include/nccl.h"),
    ("NCCL_LIBRARY", "lib64/libnccl.so", "nvidia/*/lib/libnccl.so*"),
]

# Libraries that a carried binary may expect on the device machine: those of C, C++ and CUDA.
ALLOWED = re.compile(r"ld-linux|lib(stdc\+\+|gcc_s|c|m|dl|rt|pthread|cuda|cudart|cublas|cublasLt|nvrtc|nccl|cudnn|nvidia-ml)\.so")
VERSIONS = {"GLIBC": (2, 34), "GLIBCXX": (3, 4, 30)}


def find_frontend():
    """The folder of cudnn_frontend.h, headers of a Python package that GPU machines often lack; None without one."""
    places = [os.environ.get("CUDNN_FRONTEND_INCLUDE_DIR"), *(os.environ.get(key, "") + "/include" for key in ("CUDA_HOME", "CUDA_PATH")),
              "/usr/local/cuda/include", "/usr/include", ROOT / "build/cudnn-frontend/include", ROOT / "build/cuda/include",
              sysconfig.get_path("purelib") + "/include"]
    return next((pathlib.Path(place) for place in filter(None, places) if (pathlib.Path(place) / "cudnn_frontend.h").exists()), None)


def carry_frontend(sources, rehearsal):
    """Copies all headers of cuDNN's frontend, which include one another, next to the sources."""
    frontend = find_frontend()
    if not frontend and rehearsal:
        return
    if not frontend:
        raise tools.Failed("cudnn_frontend.h was not found, without which attention of bf16 programs cannot be compiled: run "
                           "scripts/setup-cuda, or name its folder by CUDNN_FRONTEND_INCLUDE_DIR")
    to = sources / "cudnn-frontend/include"  # one of them names that folder
    to.mkdir(parents=True)
    for pattern in ("cudnn_frontend*", "cudnn_backend_base.h"):
        for path in frontend.glob(pattern):
            (shutil.copytree if path.is_dir() else shutil.copy2)(path, to / path.name)


def write_together(sources, arch):
    (sources / "CMakeLists.txt").write_text(TOGETHER.format(arch=arch.removeprefix("sm_")))
    (sources / "tools").mkdir()
    for file in TOOLS.values():
        shutil.copy2(HERE / file, sources / "tools" / file)


def library_words(nvcc, packages, sources):
    """Returns CMake variables for what the toolkit lacks and Python packages or the sources have."""
    words = [f"-DCMAKE_CUDA_COMPILER={nvcc.path}"]
    for name, own, pattern in LIBRARIES:
        carried = sources / "cudnn-frontend/include" / pathlib.Path(own).name
        path = carried if carried.exists() else None if (nvcc.home() / own).exists() else packages.find(pattern)
        if path:
            words.append(f"-D{name}={path if name.endswith('LIBRARY') else path.parent}")
    return words


def static_words():
    """Links GCC's OpenMP statically if its archive exists, because device machines may lack it.

    The C++ library stays shared: its archive needs the newest functions of this machine's C library."""
    archive = tools.run(["c++", "-print-file-name=libgomp.a"]).strip()
    return [f"-DOpenMP_gomp_LIBRARY={archive}"] if archive.startswith("/") else []


def with_cmake(sources, place, names, jobs, arch, packages, more=()):
    """Builds as many of the targets `names` as possible; returns the folder of the finished binaries."""
    nvcc = machine.find_nvcc()
    if not nvcc:
        raise tools.Failed("there is no nvcc: name a CUDA toolkit with CUDA_HOME")
    generator = "Ninja" if shutil.which("ninja") else "Unix Makefiles"
    tools.run(["cmake", "-S", sources, "-B", place, "-G", generator, "-DCMAKE_BUILD_TYPE=Release",
               f"-DCMAKE_CUDA_ARCHITECTURES={arch}", *library_words(nvcc, packages, sources), *more])
    # An error in one program does not stop the build of the others.
    tools.run(["cmake", "--build", place, "--parallel", jobs, "--target", *names, "--", "-k", *(["0"] if generator == "Ninja" else [])],
              timeout=7200)
    return place / "bin"


def build_here(arguments, sources, names, binaries):
    """Fills the folder `binaries` with stripped programs and tools that need only CUDA's libraries there."""
    binaries.mkdir()
    if arguments.build_with:
        (sources.parent / "built").mkdir()
        for source, name in [*((sources / "programs" / name, name) for name in names),
                             *((sources / "tools" / file, name) for name, file in TOOLS.items())]:
            output = sources.parent / "built" / name
            tools.run([word.format(folder=source, output=output) for word in shlex.split(arguments.build_with)])
            shutil.copy2(output, binaries / name)
        return
    launcher = shutil.which("ccache")
    caches = [f"-DCMAKE_{language}_COMPILER_LAUNCHER={launcher}" for language in ("CXX", "CUDA")] if launcher else []
    os.environ["CCACHE_BASEDIR"] = str(sources.parent)
    print(f"build {len(names)} programs by {arguments.jobs} jobs", flush=True)
    built = with_cmake(sources, sources.parent / "build", [*names, *TOOLS], arguments.jobs, arguments.arch.removeprefix("sm_"),
                       machine.Packages(arguments.python), [*static_words(), *caches])
    for name in [*names, *TOOLS]:
        tools.run(["strip", "-o", binaries / name, built / name])
        if reason := reason_not_to_carry(binaries / name):
            raise tools.Failed(f"{name} {reason}")


def reason_not_to_carry(binary):
    """Returns the reason that a binary may not start on another machine; None if there is none."""
    needed = re.findall(r"\(NEEDED\)\s+Shared library: \[(.+?)\]", tools.run(["readelf", "-d", binary]))
    symbols = tools.run(["objdump", "-T", binary])
    if strange := [name for name in needed if not ALLOWED.match(name)]:
        return f"needs {', '.join(strange)}, which a device machine may not have"
    for library, most in VERSIONS.items():
        version = max((tuple(map(int, its.split("."))) for its in re.findall(rf"\b{library}_([\d.]+)", symbols)), default=())
        if version > most:
            return f"needs {library} {'.'.join(map(str, version))}, newer than {'.'.join(map(str, most))}"
    return None
