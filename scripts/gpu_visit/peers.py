"""The programs that ours is compared with: PyTorch and llm.c, each in processes of its own.

All train the same model on the same batch, from the same tokens. A peer without enough memory for the batch uses a
smaller one, and its result says so.
"""

import json
import os
import pathlib
import re
import shutil

from . import build, machine, tokens, tools

HERE = pathlib.Path(__file__).resolve().parent


def less(batch):
    """Returns a batch that is a tenth smaller: a multiple of 4 if that is not 0."""
    batch = int(0.9 * batch)
    return max(1, batch if batch < 4 else batch // 4 * 4)


class OutOfMemory(tools.Failed):
    pass


class Peer:
    """Trains the model of `program`: `run(steps, warm)` returns the seconds of steps, or raises OutOfMemory."""

    def __init__(self, name, program):
        self.name, self.program, self.visit, self.entry = name, program, program.visit, program.entry
        self.batch, self.details = self.entry["batch"], {}

    def rates(self, steps, warm):
        """Tokens per second of each step after the warm-up."""
        while True:
            try:
                return [self.batch * self.entry["seq"] / seconds for seconds in self.run(steps, warm)]
            except OutOfMemory:
                if self.batch == 1:
                    raise
                self.batch = less(self.batch)


class Torch(Peer):
    """PyTorch, eager or compiled, with bf16 autocast or parameters in bf16."""

    def __init__(self, name, program, compiled, precision="autocast"):
        super().__init__(name, program)
        self.compiled, self.precision = compiled, precision

    def words(self, steps, warm):
        keys = ("model", "layers", "heads", "width", "vocabulary", "kv_heads", "inner", "seq")
        shape = [word for key in keys if key in self.entry for word in (f"--{key.replace('_', '-')}", self.entry[key])]
        return [self.visit.python, HERE / "torch_train.py", "--device", "cpu" if self.visit.rehearsal else "cuda", *shape,
                "--batch", self.batch, "--steps", steps, "--warm", warm, "--precision", self.precision,
                "--tokens", self.program.tokens(), *(["--compile"] if self.compiled else [])]

    def environment(self):
        return {**self.visit.found_environment, "TORCHINDUCTOR_CACHE_DIR": str(self.visit.cache),
                "PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"}

    def run(self, steps, warm):
        printed = tools.run(self.words(steps, warm), label=self.name, env=self.environment())
        try:
            result = json.loads(printed.strip().splitlines()[-1])
        except (ValueError, IndexError) as error:
            raise tools.Failed(f"PyTorch ended without a result:\n{printed[-1000:]}") from error
        if "out_of_memory" in result:
            raise OutOfMemory(f"batch {self.batch}: {result['out_of_memory']}")
        self.details = {key: its for key, its in result.items() if key != "seconds"}
        return result["seconds"]


class Llmc(Peer):
    """llm.c's train_gpt2cu, which `gpu-visit emit --llmc` has built: bf16, masters in f32."""

    def run(self, steps, warm):
        binary = self.visit.binary("train_gpt2cu")
        if not binary.exists():
            raise tools.Skipped("llm.c was not carried: emit --llmc=FOLDER, with a folder of its sources")
        data, seq, steps = self.visit.scratch / "llmc_tokens.bin", self.entry["seq"], steps + warm
        if not data.exists():
            tokens.write_llmc_tokens(data, max(4 * self.entry["batch"] * seq + 1, 500_000), self.entry["vocabulary"])
        # -e d12: initial values of 12 layers; -s 0: no samples; -v, -m: one batch of evaluation at
        # either end, because it divides by -v and -m; -r 0: no recomputation.
        words = [binary, "-i", data, "-j", data, "-e", f"d{self.entry['layers']}", "-b", self.batch, "-t", seq,
                 "-d", self.batch * seq, "-x", steps, "-v", 1000000, "-m", 1, "-s", 0, "-l", "1e-4", "-r", 0]
        self.details["command"] = " ".join(map(str, words[1:]))
        try:
            printed = tools.run(words, label=self.name, cwd=self.visit.scratch)
        except tools.Failed as error:
            if "out of memory" in error.printed:
                raise OutOfMemory(str(error), error.printed) from error
            raise
        # step   12/25 | loss 10.9 (+nanz)| norm 3.2 (+nanz)| lr 1.00e-04 | 65.43 ms | 52.1% bf16 MFU | 1001705 tok/s
        times = [float(ms) / 1e3 for ms in re.findall(r"^step\s+\d+/\d+ \|.*?\| ([\d.]+) ms \|", printed, re.MULTILINE)]
        if len(times) <= warm:
            raise tools.Failed(f"llm.c printed the times of {len(times)} steps, not of {steps}:\n{printed[-1000:]}")
        return times[warm:]


# The faster of torch.compile's precisions counts.
KINDS = {
    "compile": lambda name, program: Torch(name, program, compiled=True),
    "compile-bf16": lambda name, program: Torch(name, program, compiled=True, precision="bf16"),
    "llm.c": Llmc,
    "eager": lambda name, program: Torch(name, program, compiled=False),
}


def of(program, names):
    return [KINDS[name](name, program) for name in names]


# ---------------------------------------------------------------------------
# Building llm.c, before the visit
# ---------------------------------------------------------------------------

def build_llmc(arguments, sources, binaries):
    """Compiles train_gpt2cu with cuDNN's attention from a folder of llm.c's sources, and strips it into `binaries`."""
    if arguments.build_with:
        shutil.copy2(arguments.llmc / "train_gpt2cu", binaries / "train_gpt2cu")
        return
    if not (arguments.llmc / "train_gpt2.cu").exists():
        raise tools.Failed(f"{arguments.llmc} holds no train_gpt2.cu: name a folder of llm.c's sources")
    nvcc, place = machine.find_nvcc(), sources.parent / "llm.c"
    shutil.copytree(arguments.llmc, place, symlinks=True)
    # llm.c links NVML, which comes with a driver, but calls it only if nvml.h exists. An empty library replaces it.
    (place / "lib").mkdir()
    tools.run(["cc", "-shared", "-x", "c", "/dev/null", "-Wl,-soname,libnvidia-ml.so.1", "-o", place / "lib/libnvidia-ml.so"])
    frontend = place / "cudnn-frontend/include"
    shutil.copytree(sources / "cudnn-frontend/include", frontend)
    words = ["NO_MULTI_GPU=1", "NO_USE_MPI=1", "USE_CUDNN=1", f"GPU_COMPUTE_CAPABILITY={arguments.arch.removeprefix('sm_').rstrip('af')}",
             f"NVCC={nvcc.path} -lnvrtc", f"CUDNN_FRONTEND_PATH={frontend}", f"NVCC_INCLUDES=-include {HERE / 'llmc_fixes.h'} -I{frontend}"]
    environment = {**os.environ, "PATH": f"{nvcc.path.parent}{os.pathsep}{os.environ.get('PATH', '')}",
                   "LIBRARY_PATH": os.pathsep.join([f"{nvcc.home()}/lib64", os.environ.get("LIBRARY_PATH", ""), str(place / "lib")])}
    print("build llm.c", flush=True)
    tools.run(["make", "-C", place, "train_gpt2cu", *words], timeout=3600, env=environment)
    tools.run(["strip", "-o", binaries / "train_gpt2cu", place / "train_gpt2cu"])
    if reason := build.reason_not_to_carry(binaries / "train_gpt2cu"):
        raise tools.Failed(f"llm.c's train_gpt2cu {reason}")
