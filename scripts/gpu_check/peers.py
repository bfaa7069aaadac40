"""The programs that ours stands beside: PyTorch and llm.c, each in processes of its own.

A peer says what batch it can take within the memory that ours was compiled for, and runs:
the next begins when the one before has ended and its memory is free.
"""

import json
import os
import pathlib
import re
import shutil

from . import machine, tokens, tools


def rounded_down(batch):
    """A multiple of 4, as ours."""
    return int(batch) if batch < 4 else int(batch) // 4 * 4


class OutOfMemory(tools.Failed):
    pass


class Torch:
    """One way to run PyTorch.  Its batch is found from what a small one takes, and lowered where memory ends.

    A compiled one begins with the batch that `eager` has found: each that it tries is compiled for."""

    def __init__(self, program, name, eager=None, padded=False):
        self.program, self.name, self.eager, self.compiled = program, name, eager, eager is not None
        self.bench, self.entry = program.bench, program.entry
        self.vocabulary = -(-self.entry["vocabulary"] // 64) * 64 if padded else self.entry["vocabulary"]
        self.device = "cpu" if self.bench.rehearsal else "cuda"
        self.batch, self.details = None, {}

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

    def measure(self, batch, steps, warm):
        shape = [word for key in ("layers", "heads", "width", "seq") for word in (f"--{key}", self.entry[key])]
        words = [self.bench.arguments.python, pathlib.Path(__file__).with_name("torch_gpt2.py"), "--device", self.device, *shape,
                 "--vocabulary", self.vocabulary, "--batch", batch, "--steps", steps, "--warm", warm,
                 "--limit", self.entry["memory"], "--tokens", self.program.tokens(), *(["--compile"] if self.compiled else [])]
        environment = {**self.bench.environment, "TORCHINDUCTOR_CACHE_DIR": str(self.bench.folder / "inductor"),
                       "PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"}
        printed = tools.run(words, timeout=400, env=environment)
        try:
            result = json.loads(printed.strip().splitlines()[-1])
        except (ValueError, IndexError) as error:
            raise tools.Failed(f"PyTorch ended without a result:\n{printed[-1000:]}") from error
        if "out_of_memory" in result:
            raise OutOfMemory(f"batch {batch}: {result['out_of_memory']}")
        return result

    def fitting(self, result, batch):
        """The batch that the limit holds: memory grows by the same for each sequence."""
        if "peak_bytes" not in result:
            return batch
        each = max(1, result["peak_bytes"] - result["state_bytes"]) / batch
        return max(1, rounded_down(0.98 * (self.entry["memory"] - result["state_bytes"]) / each))

    def rates(self):
        steps, warm = self.bench.steps()
        if self.batch is None:
            small = min(4, self.entry["batch"])
            self.batch = (self.eager.batch or small) if self.compiled else self.fitting(self.measure(small, 1, 1), small)
            result = self.with_less_until_it_fits(steps, warm)
            larger = self.fitting(result, self.batch)
            if larger > 1.1 * self.batch:
                kept, self.batch = (self.batch, result), larger
                try:
                    result = self.measure(larger, steps, warm)
                except OutOfMemory:
                    self.batch, result = kept
        else:
            result = self.measure(self.batch, steps, warm)
        self.details = {key: its for key, its in result.items() if key not in ("seconds", "loss")}
        return [self.batch * self.entry["seq"] / seconds for seconds in result["seconds"]]

    def with_less_until_it_fits(self, steps, warm):
        while True:
            try:
                return self.measure(self.batch, steps, warm)
            except OutOfMemory:
                if self.batch == 1:
                    raise
                self.batch = max(1, rounded_down(self.batch * 0.9))


class Llmc:
    """llm.c's train_gpt2cu, from a folder of its sources, built where it is not: bf16, masters in f32."""

    name = "llm.c"

    def __init__(self, program):
        self.program, self.bench, self.entry = program, program.bench, program.entry
        self.batch, self.details = None, {}

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
        carried, cudnn = self.bench.builder.folder / "cudnn-frontend", packages.find("nvidia/*/include/cudnn.h")
        headers = [*carried.glob("cudnn_frontend*"), *(cudnn.parent.glob("cudnn*.h") if cudnn else [])]
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

    def run(self, batch, steps):
        seq = self.entry["seq"]
        # -e d12: initial values of 12 layers; -s 0: no samples; -v, -m: one batch of evaluation at
        # either end, for 0 divides by itself; -r 0: nothing is computed twice.
        words = [self.binary, "-i", self.data, "-j", self.data, "-e", f"d{self.entry['layers']}", "-b", batch, "-t", seq,
                 "-d", batch * seq, "-x", steps, "-v", 1000000, "-m", 1, "-s", 0, "-l", "1e-4", "-r", 0]
        self.details["command"] = " ".join(map(str, words[1:]))
        try:
            return tools.run(words, timeout=300, cwd=self.program.scratch)
        except tools.Failed as error:
            if "out of memory" in error.printed:
                raise OutOfMemory(str(error), error.printed) from error
            raise

    def fitting(self):
        """From what it prints of its memory."""
        small = min(4, self.entry["batch"])
        printed = self.run(small, 2)
        used = re.search(r"device memory usage: (\d+) MiB", printed)
        each = re.search(r"memory per sequence: (\d+) MiB", printed)
        if not used or not each or int(each.group(1)) == 0:
            return self.entry["batch"]
        room = self.entry["memory"] / 2**20 - int(used.group(1))
        return max(1, min(rounded_down(small + room / int(each.group(1))), 4 * self.entry["batch"]))

    def rates(self):
        steps, warm = self.bench.steps()
        if self.batch is None:
            self.batch = self.fitting()
        while True:
            try:
                printed = self.run(self.batch, warm + steps)
                break
            except OutOfMemory:
                if self.batch == 1:
                    raise
                self.batch = max(1, rounded_down(self.batch * 0.9))
        # step   12/25 | loss 10.9 (+nanz)| norm 3.2 (+nanz)| lr 1.00e-04 | 65.43 ms | 52.1% bf16 MFU | 1001705 tok/s
        times = [float(ms) for ms in re.findall(r"^step\s+\d+/\d+ \|.*?\| ([\d.]+) ms \|", printed, re.MULTILINE)]
        if len(times) <= warm:
            raise tools.Failed(f"llm.c printed the times of {len(times)} steps, not of {warm + steps}:\n{printed[-1000:]}")
        return [self.batch * self.entry["seq"] / ms * 1e3 for ms in times[warm:]]


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


def of(program):
    eager = Torch(program, "eager")
    return [eager, Torch(program, "compile", eager), Torch(program, "compile-padded", eager, padded=True), Llmc(program)]
