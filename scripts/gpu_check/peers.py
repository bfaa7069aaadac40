"""The programs that ours stands beside: PyTorch and llm.c, each in processes of its own.

All train the same model on the same batch, from the same tokens; one that has no memory for it takes less,
and its result says so.  The next begins when the one before has ended and its memory is free.
"""

import json
import os
import pathlib
import re
import shutil

from . import machine, tokens, tools


def less(batch):
    """A tenth less, and a multiple of 4 as long as that is not nothing."""
    batch = int(0.9 * batch)
    return max(1, batch if batch < 4 else batch // 4 * 4)


class OutOfMemory(tools.Failed):
    pass


class Peer:
    """What differs is `run`: the seconds of steps at a batch, or OutOfMemory."""

    def __init__(self, name, program):
        self.name, self.program, self.bench, self.entry = name, program, program.bench, program.entry
        self.batch, self.details = self.entry["batch"], {}

    def rates(self):
        """Tokens a second of each step after the warm-up."""
        steps, warm = self.bench.steps()
        while True:
            try:
                return [self.batch * self.entry["seq"] / seconds for seconds in self.run(steps, warm)]
            except OutOfMemory:
                if self.batch == 1:
                    raise
                self.batch = less(self.batch)


class Torch(Peer):
    """One way to run PyTorch: eagerly or compiled, with bf16 autocast or parameters in bf16."""

    def __init__(self, name, program, compiled, precision="autocast"):
        super().__init__(name, program)
        self.compiled, self.precision = compiled, precision
        self.device = "cpu" if self.bench.rehearsal else "cuda"

    def prepare(self):
        probe = "import torch; print(torch.cuda.is_available())"
        python = self.bench.arguments.python
        try:
            printed = tools.run([python, "-c", probe], timeout=300, env=self.bench.environment)
        except tools.Failed as error:
            last = (error.printed.strip() or str(error)).splitlines()[-1]
            raise tools.Skipped(f"{python} has no PyTorch: {last}") from error
        if self.device == "cuda" and "True" not in printed:
            raise tools.Skipped(f"the PyTorch of {python} sees no GPU")

    def run(self, steps, warm):
        keys = ("model", "layers", "heads", "width", "vocabulary", "kv_heads", "inner", "seq")
        shape = [word for key in keys if key in self.entry for word in (f"--{key.replace('_', '-')}", self.entry[key])]
        words = [self.bench.arguments.python, pathlib.Path(__file__).with_name("torch_train.py"), "--device", self.device, *shape,
                 "--batch", self.batch, "--steps", steps, "--warm", warm, "--precision", self.precision,
                 "--tokens", self.program.tokens(), *(["--compile"] if self.compiled else [])]
        environment = {**self.bench.environment, "TORCHINDUCTOR_CACHE_DIR": str(self.bench.folder / "inductor"),
                       "PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"}
        printed = tools.run(words, timeout=400, env=environment)
        try:
            result = json.loads(printed.strip().splitlines()[-1])
        except (ValueError, IndexError) as error:
            raise tools.Failed(f"PyTorch ended without a result:\n{printed[-1000:]}") from error
        if "out_of_memory" in result:
            raise OutOfMemory(f"batch {self.batch}: {result['out_of_memory']}")
        self.details = {key: its for key, its in result.items() if key != "seconds"}
        return result["seconds"]


class Llmc(Peer):
    """llm.c's train_gpt2cu, from a folder of its sources, built where it is not: bf16, masters in f32."""

    def prepare(self):
        folder = self.bench.arguments.llmc
        if not folder:
            raise tools.Skipped("no folder of llm.c was named: --llmc=FOLDER")
        folder = folder.resolve()
        self.binary = folder / "train_gpt2cu"
        if not self.binary.exists():
            if not (folder / "train_gpt2.cu").exists():
                raise tools.Skipped(f"{folder} holds neither train_gpt2cu nor train_gpt2.cu")
            self.binary = self.build(folder)
        self.data = self.program.scratch / "llmc_tokens.bin"
        if not self.data.exists():
            count = 3 * 4 * self.entry["batch"] * self.entry["seq"] + 1
            tokens.write_llmc_tokens(self.data, max(count, 500_000), self.entry["vocabulary"])

    def build(self, sources):
        nvcc, packages = self.bench.nvcc, self.bench.packages
        if not nvcc:
            raise tools.Skipped("llm.c is not built, and there is no nvcc")
        place = self.bench.folder / "llm.c"
        if (place / "train_gpt2cu").exists():
            return place / "train_gpt2cu"
        shutil.copytree(sources, place, dirs_exist_ok=True, symlinks=True)
        # The driver brings NVML without the name that linkers look for; packages so bring cuDNN.
        link_all(place / "lib", {"libnvidia-ml.so": find_nvml(), "libcudnn.so": packages.find("nvidia/cudnn/lib/libcudnn.so*")})
        carried, cudnn = self.bench.builder.folder / "cudnn-frontend/include", packages.find("nvidia/*/include/cudnn.h")
        headers = [*carried.glob("*"), *(cudnn.parent.glob("cudnn*.h") if cudnn else [])]
        frontend = place / "cudnn-frontend/include"  # the Makefile wants it there
        link_all(frontend, {path.name: path for path in headers})
        fixes = pathlib.Path(__file__).with_name("llmc_fixes.h")
        words = ["NO_MULTI_GPU=1", "NO_USE_MPI=1", f"GPU_COMPUTE_CAPABILITY={self.bench.builder.arch.rstrip('af')}",
                 f"NVCC={nvcc.path}", f"CUDNN_FRONTEND_PATH={frontend}", f"NVCC_INCLUDES=-include {fixes} -I{frontend}"]
        paths = [str(place / "lib"), f"{nvcc.home()}/lib64", f"{nvcc.home()}/lib64/stubs", os.environ.get("LIBRARY_PATH", "")]
        environment = {**os.environ, "PATH": f"{nvcc.path.parent}{os.pathsep}{os.environ.get('PATH', '')}",
                       "LIBRARY_PATH": os.pathsep.join(paths)}
        make = lambda cudnn: tools.run(["make", "-C", place, "train_gpt2cu", f"USE_CUDNN={cudnn}", *words], timeout=500,
                                       env=environment)
        try:
            make(1)
        except tools.Failed as error:
            self.details["without_cudnn"] = str(error)[-300:]
            make(0)
        return place / "train_gpt2cu"

    def run(self, steps, warm):
        seq, steps = self.entry["seq"], steps + warm
        # -e d12: initial values of 12 layers; -s 0: no samples; -v, -m: one batch of evaluation at
        # either end, for 0 divides by itself; -r 0: nothing is computed twice.
        words = [self.binary, "-i", self.data, "-j", self.data, "-e", f"d{self.entry['layers']}", "-b", self.batch, "-t", seq,
                 "-d", self.batch * seq, "-x", steps, "-v", 1000000, "-m", 1, "-s", 0, "-l", "1e-4", "-r", 0]
        self.details["command"] = " ".join(map(str, words[1:]))
        try:
            printed = tools.run(words, timeout=300, cwd=self.program.scratch)
        except tools.Failed as error:
            if "out of memory" in error.printed:
                raise OutOfMemory(str(error), error.printed) from error
            raise
        # step   12/25 | loss 10.9 (+nanz)| norm 3.2 (+nanz)| lr 1.00e-04 | 65.43 ms | 52.1% bf16 MFU | 1001705 tok/s
        times = [float(ms) / 1e3 for ms in re.findall(r"^step\s+\d+/\d+ \|.*?\| ([\d.]+) ms \|", printed, re.MULTILINE)]
        if len(times) <= warm:
            raise tools.Failed(f"llm.c printed the times of {len(times)} steps, not of {steps}:\n{printed[-1000:]}")
        return times[warm:]


def link_all(folder, targets):
    """A folder of links, by their names; what was not found is left out."""
    if folder.is_symlink():
        folder.unlink()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, target in targets.items():
        if target:
            (folder / name).symlink_to(target)


def find_nvml():
    folders = ["/usr/local/nvidia/lib64", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64"]
    return next((path for folder in folders for path in sorted(pathlib.Path(folder).glob("libnvidia-ml.so*"))), None)


# What a compiler makes of both precisions is measured: the faster of them counts.
KINDS = {
    "eager": lambda name, program: Torch(name, program, compiled=False),
    "compile": lambda name, program: Torch(name, program, compiled=True),
    "compile-bf16": lambda name, program: Torch(name, program, compiled=True, precision="bf16"),
    "llm.c": Llmc,
}


def of(program):
    return [KINDS[name](name, program) for name in program.entry["peers"]]
