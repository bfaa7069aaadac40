#!/usr/bin/env python3
"""fake_driver.py INCLUDE/cuda.h FOLDER: writes FOLDER/libcuda.so.1, a driver that has no device and takes any module.

With it libraries plan for GPUs that are not there (cuDNN compiles its kernels when it plans), and launch nothing.
"""
import pathlib
import re
import subprocess
import sys

HEAD = """
#define HANDLE(name) int name(void **made, ...) { *made = (void *)0x1000; return 0; }
HANDLE(cuLibraryLoadData) HANDLE(cuLibraryGetKernel) HANDLE(cuKernelGetFunction)
HANDLE(cuModuleLoadData) HANDLE(cuModuleLoadDataEx) HANDLE(cuModuleGetFunction)
int cuInit(unsigned flags) { (void)flags; return 100; }
int cuDeviceGetCount(int *count) { *count = 0; return 0; }
int cuDriverGetVersion(int *version) { *version = 13000; return 0; }
int cuGetErrorString(int error, const char **text) { (void)error; *text = "fake"; return 0; }
int cuGetErrorName(int error, const char **text) { (void)error; *text = "fake"; return 0; }
#include <dlfcn.h>
int cuGetProcAddress_v2(const char *name, void **made, int version, unsigned long long flags, int *found) {
  (void)version, (void)flags;
  *made = dlsym(dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD), name);
  if (found)
    *found = !*made;
  return *made ? 0 : 500;
}
int cuGetProcAddress(const char *name, void **made, int version, unsigned long long flags) {
  return cuGetProcAddress_v2(name, made, version, flags, 0);
}
"""


def main():
    header, folder = pathlib.Path(sys.argv[1]).read_text(), pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    # Functions, and the names with versions that macros give them.
    names = {*re.findall(r"\bcu[A-Z]\w*(?=\s*\()", header), *re.findall(r"#define\s+cu[A-Z]\w*\s+(?:\w+\()?(cu[A-Z]\w*)", header)}
    others = sorted(name for name in names if f" {name}(" not in HEAD and f"({name})" not in HEAD)
    source = folder / "driver.c"
    source.write_text(HEAD + "".join(f"int {name}(void) {{ return 0; }}\n" for name in others))
    subprocess.run(["cc", "-w", "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", source, "-o", folder / "libcuda.so.1",
                    "-ldl"], check=True)


if __name__ == "__main__":
    main()
