"""Finds the GPU, the toolkit and the libraries of Python packages on this machine."""

import itertools
import os
import pathlib
import re
import shutil
from dataclasses import dataclass

from . import tools

# Dense bf16 operations a second with f32 sums, from NVIDIA's data sheets (where those give rates with sparsity, half of
# them). A row fits a name that contains all its words; the first such row applies.
PEAK = [
    ("GB200", 2500e12), ("B200", 2250e12), ("B100", 1750e12),
    ("GH200", 989.4e12), ("H200 NVL", 835.5e12), ("H200", 989.4e12),
    ("H100 PCIe", 756.5e12), ("H100 NVL", 835.5e12), ("H100", 989.4e12), ("H800", 989.4e12), ("H20", 148e12),
    ("A100", 311.9e12), ("A800", 311.9e12), ("A30", 165e12), ("A40", 149.7e12),
    ("L40S", 362.05e12), ("L40", 181.05e12), ("L4", 121e12), ("4090", 165.2e12),
]


def peak_of(name):
    words = re.split(r"[\s\-_/]+", name)
    return next((rate for key, rate in PEAK if all(word in words for word in key.split())), None)


@dataclass
class Gpu:
    name: str
    arch: str  # 90 of capability 9.0
    memory: int  # bytes
    driver: str
    cuda: str | None  # the newest CUDA that the driver runs

    def __str__(self):
        return f"{self.name}, {self.memory >> 20} MiB, driver {self.driver}, CUDA {self.cuda or 'of unknown version'}"


def visible_gpus():
    """Returns the devices in CUDA_VISIBLE_DEVICES, up to the first invalid word, as the driver reads it. None: all."""
    words = os.environ.get("CUDA_VISIBLE_DEVICES")
    if words is None:
        return None
    return list(itertools.takewhile(lambda word: word not in ("", "-1"), map(str.strip, words.split(","))))


def find_gpu():
    """Returns the first GPU that programs see, as the driver describes it; None without one."""
    smi, visible = shutil.which("nvidia-smi"), visible_gpus()
    if not smi or visible == []:
        return None
    # Programs number GPUs as nvidia-smi does (see ORDER).
    chosen = ["-i", visible[0]] if visible else []
    try:
        line = tools.run([smi, *chosen, "--query-gpu=name,compute_cap,memory.total,driver_version",
                          "--format=csv,noheader,nounits"], timeout=60).splitlines()[0]
        name, capability, memory, driver = [word.strip() for word in line.split(",")]
        header = re.search(r"CUDA Version:\s*(\d+\.\d+)", tools.run([smi], timeout=60))
        # Some drivers do not tell the memory of a GPU that shares the host's.
        return Gpu(name, capability.replace(".", ""), int(memory) << 20 if memory.isdigit() else 0, driver, header and header.group(1))
    except (tools.Failed, IndexError, ValueError):
        return None


def find_tool(name):
    """A program of the CUDA toolkit; None where there is none."""
    home = [pathlib.Path(os.environ[key]) for key in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(key)]
    folders = [*(f"{folder}/bin" for folder in home), *os.environ.get("PATH", "").split(os.pathsep), "/usr/local/cuda/bin"]
    found = shutil.which(name, path=os.pathsep.join(folders))
    return pathlib.Path(found) if found else None


@dataclass
class Nvcc:
    path: pathlib.Path
    version: str

    def home(self):
        return self.path.resolve().parent.parent


def find_nvcc():
    path = find_tool("nvcc")
    if not path:
        return None
    version = re.search(r"release (\d+\.\d+)", tools.run([path, "--version"], timeout=60))
    return Nvcc(path, version.group(1) if version else "0.0")


def architecture(emitted, gpu):
    """Returns the architecture to compile for: the GPU's, with the folder's features if the GPU has them."""
    wanted = emitted.removeprefix("sm_")
    return wanted if not gpu or wanted.rstrip("af") == gpu.arch else gpu.arch


class Packages:
    """Returns CUDA's libraries among the packages of a Python; PyTorch installs them there."""

    def __init__(self, python):
        try:
            folder = tools.run([python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], timeout=60)
            self.root = pathlib.Path(folder.strip())
        except tools.Failed:
            self.root = None

    def find(self, pattern):
        """The first file or folder of NVIDIA's packages that fits; None without one."""
        return next(iter(sorted(self.root.glob(pattern))), None) if self.root else None

    def library_folders(self):
        return sorted(self.root.glob("nvidia/*/lib")) if self.root else []


# Our programs and their peers number GPUs as nvidia-smi does.
ORDER = {"CUDA_DEVICE_ORDER": "PCI_BUS_ID"}


def environment_of_programs(packages, nvcc):
    """Variables for our programs: the order of GPUs, and libraries that only Python packages have.

    The toolkit's libraries come first, so that a program runs with the libraries that it was linked with."""
    folders = [str(nvcc.home() / "lib64")] if nvcc else []
    folders += [*map(str, packages.library_folders()), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])]
    return {**ORDER, "LD_LIBRARY_PATH": os.pathsep.join(folders)}
