"""Builds programs: the runtime once, and all programs side by side."""

import os
import pathlib
import shlex
import shutil
import threading

from . import machine, tools

# Beside the folders of sources, whose own CMakeLists.txt stay as braidc wrote them but for
# the names of their programs.
TOGETHER = """\
# All programs of this folder, and the runtime that they share.
cmake_minimum_required(VERSION 3.24)
set(CMAKE_CUDA_ARCHITECTURES {arch} CACHE STRING "The GPUs to compile for: 80, 90, 90a, 100")
project(gpu_check LANGUAGES CXX CUDA)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${{CMAKE_BINARY_DIR}}/bin)
set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL TRUE)
set(BRAID_RT_CPU OFF)
find_package(OpenSSL QUIET COMPONENTS Crypto)
option(BRAID_RT_TOKENS "Ranks of several processes" ${{OpenSSL_FOUND}})
add_subdirectory(runtime)
file(GLOB programs CONFIGURE_DEPENDS ${{CMAKE_CURRENT_SOURCE_DIR}}/programs/*/CMakeLists.txt)
foreach(program IN LISTS programs)
  get_filename_component(folder ${{program}} DIRECTORY)
  add_subdirectory(${{folder}})
endforeach()
"""

# In place of a copy of the runtime in each folder: each can still be built alone.
SHARED_RUNTIME = """\
if(NOT TARGET braid_rt)
  add_subdirectory(${CMAKE_CURRENT_SOURCE_DIR}/../../../runtime ${CMAKE_CURRENT_BINARY_DIR}/shared)
endif()
"""


# What toolkits often lack and Python packages bring: the variable of CMake, where it is in a
# toolkit, and among packages.  Header files are named by their folder.
LIBRARIES = [
    ("CUDNN_INCLUDE_DIR", "include/cudnn.h", "nvidia/*/include/cudnn.h"),
    ("CUDNN_FRONTEND_INCLUDE_DIR", "include/cudnn_frontend.h", "include/cudnn_frontend.h"),
    ("NVRTC_INCLUDE_DIR", "include/nvrtc.h", "nvidia/*/include/nvrtc.h"),
    ("CUBLASLT_INCLUDE_DIR", "include/cublasLt.h", "nvidia/*/include/cublasLt.h"),
    ("CUDA_cublasLt_LIBRARY", "lib64/libcublasLt.so", "nvidia/*/lib/libcublasLt.so*"),
    ("NCCL_INCLUDE_DIR", "include/nccl.h", "nvidia/*/include/nccl.h"),
    ("NCCL_LIBRARY", "lib64/libnccl.so", "nvidia/*/lib/libnccl.so*"),
]


def library_words(nvcc, packages, folder):
    """Where CMake finds what the toolkit lacks, and Python packages or the folder bring."""
    words = [f"-DCMAKE_CUDA_COMPILER={nvcc.path}"]
    for name, own, pattern in LIBRARIES:
        carried = folder / "cudnn-frontend" / own
        path = carried if carried.exists() else None if (nvcc.home() / own).exists() else packages.find(pattern)
        if path:
            words.append(f"-D{name}={path if name.endswith('LIBRARY') else path.parent}")
    return words


class Builder:
    """Gives the binaries of programs, from `place`, which later runs find again."""

    def __init__(self, folder, place, arguments, gpu, nvcc, packages, emitted):
        self.folder, self.place, self.command = folder, place, arguments.build_with
        self.nvcc, self.packages, self.jobs = nvcc, packages, arguments.jobs
        self.arch = machine.architecture(emitted, gpu)
        self.generator = "Ninja" if shutil.which("ninja") else "Unix Makefiles"
        self.configured = False
        self.lock = threading.Lock()  # one build at a time in `place`: programs are checked side by side

    def configure(self):
        if self.configured:
            return
        if not self.nvcc:
            raise tools.Failed("there is no nvcc: name a CUDA toolkit with CUDA_HOME")
        tools.run(["cmake", "-S", self.folder, "-B", self.place, "-G", self.generator, "-DCMAKE_BUILD_TYPE=Release",
                   f"-DCMAKE_CUDA_ARCHITECTURES={self.arch}", *library_words(self.nvcc, self.packages, self.folder)])
        self.configured = True

    def all_of(self, names):
        """Builds many at once as far as it goes; what is missing then says why, one at a time, in `binary`."""
        if self.command or not names:
            return
        try:
            self.configure()
            # Past an error in one program, the others are built.
            go_on = ["-k", "0"] if self.generator == "Ninja" else ["-k"]
            tools.run(["cmake", "--build", self.place, "--parallel", self.jobs, "--target", *names, "--", *go_on], timeout=1800)
        except (tools.Failed, tools.Skipped):
            pass

    def binary(self, name):
        if self.command:
            path = self.place / name
            path.parent.mkdir(parents=True, exist_ok=True)
            self.with_command(self.folder / "programs" / name, path)
            return path
        with self.lock:
            self.configure()
            tools.run(["cmake", "--build", self.place, "--parallel", self.jobs, "--target", name], timeout=1800)
        return self.place / "bin" / name

    def with_command(self, source, path):
        tools.run([word.format(folder=source, output=path) for word in shlex.split(self.command)])

    def tool(self, source, path, *libraries):
        """A small CUDA program of one file."""
        if self.command:
            self.with_command(source, path)
        elif not self.nvcc:
            raise tools.Skipped("there is no nvcc")
        else:
            tools.run([self.nvcc.path, "-std=c++17", "-O3", f"-arch=sm_{self.arch}", source, "-o", path, *libraries])
        return path

    def nccl(self):
        """What a program that calls NCCL is compiled with; none where it is not installed."""
        found = {word[2:].partition("=")[0]: word.partition("=")[2] for word in library_words(self.nvcc, self.packages, self.folder)[1:]}
        include, library = found.get("NCCL_INCLUDE_DIR"), found.get("NCCL_LIBRARY")
        return [*([f"-I{include}"] if include else []), library or "-lnccl"]


def default_jobs():
    return len(os.sched_getaffinity(0))
