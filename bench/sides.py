"""The programs that bench/train compares.

Each is prepared once for a work, and then runs in separate processes. A run returns the seconds and the losses of its
steps, and the largest resident size of a rank. All begin with the same parameters and see the same data in the same
order.
"""

import dataclasses
import json
import os
import pathlib
import re
import shlex
import subprocess

import tools
import works

HERE = pathlib.Path(__file__).resolve().parent
LEARNING_RATE, DECAY, BETAS = 1e-4, 0.1, (0.9, 0.95)


@dataclasses.dataclass
class Result:
    seconds: list
    losses: list
    resident: int


class Setup:
    """The parts that all sides of a work share: the graph, the first parameters, and the data."""

    def __init__(self, work, arguments, folder):
        self.work, self.arguments, self.folder = work, arguments, folder
        self.steps = arguments.warmup + arguments.steps
        works.write_graph(work, arguments.build, folder)
        self.data = works.write_data(work, self.steps, folder)
        self.weights = self.make_weights()

    def make_weights(self):
        """Returns the losses of a step with learning rate 0."""
        self.compile("start", ["--precision=f32"])
        tools.run([self.folder / "start", "train", "--data", self.data, "--steps", 1, "--lr", 0, "--checkpoint", self.folder / "weights"],
                  stderr=subprocess.DEVNULL)
        return next((self.folder / "weights").rglob("*.safetensors"))

    def compile(self, name, options):
        plan = self.folder / f"{name}.plan.json"
        tools.run([self.arguments.build / "bin" / "braidc", self.folder / "model.mlir", "-o", self.folder / name,
                   f"--hyperparameters=weight_decay={DECAY},beta1={BETAS[0]},beta2={BETAS[1]}", f"--report={plan}", *options],
                  stderr=subprocess.DEVNULL)
        return json.loads(plan.read_text())


class Compiled:
    """Ours; ranks are threads of one process, or processes over a transport."""

    def __init__(self, name, transport="", options=()):
        self.name, self.transport, self.options = name, transport, list(options)

    def prepare(self, setup):
        work = setup.work
        mesh = [f"--mesh=dp={work.ranks}"] if work.ranks > 1 else []
        self.plan = setup.compile(self.name, [f"--precision={work.precision}", *mesh, *self.options])

    def command(self, setup, steps, *words):
        return [setup.folder / self.name, "train", "--data", setup.data, "--init", setup.weights, "--steps", steps,
                "--batch-order", "sequential", "--lr", LEARNING_RATE, "--lr-schedule", "constant", "--warmup", 0,
                "--threads", setup.work.threads, *(["--transport", self.transport] if self.transport else []), *words]

    def start(self, setup, steps, *words):
        command, ranks = self.command(setup, steps, *words), setup.work.ranks
        if self.transport in ("", "threads"):
            return tools.run(command, stderr=subprocess.DEVNULL)[1] // ranks
        return tools.run_ranks(command, ranks)[1]

    def run(self, setup):
        log = setup.folder / "metrics.jsonl"
        log.unlink(missing_ok=True)
        resident = self.start(setup, setup.steps, "--log", log)
        lines = [line for line in map(json.loads, log.read_text().splitlines()) if "seconds" in line]
        return Result([line["seconds"] for line in lines], [line["loss"] for line in lines], resident)

    def measure_rates(self, setup):
        """Returns the rates of GEMMs and copies on a rank, while all other ranks run them, too."""
        path = setup.folder / "profile.json"
        self.start(setup, 1, f"--profile={path}")
        return json.loads(path.read_text())["rates"]


class Python:
    """A peer in a Python of the user's: bench/torch_train.py or bench/jax_train.py."""

    def __init__(self, name, script, mode, modules):
        self.name, self.script, self.mode, self.modules = name, HERE / script, mode, modules

    def prepare(self, setup):
        job = setup.work.asdict() | {"mode": self.mode, "steps": setup.steps, "weights": str(setup.weights), "data": str(setup.data),
                                     "lr": LEARNING_RATE, "decay": DECAY, "betas": BETAS}
        self.job = setup.folder / f"{self.name}.json"
        self.job.write_text(json.dumps(job))

    def run(self, setup):
        command, threads = [setup.arguments.python, self.script, self.job], str(setup.work.threads)
        if setup.work.ranks > 1:
            output, resident = tools.run_ranks(command, setup.work.ranks, env={"OMP_NUM_THREADS": threads})
        else:
            output, resident = tools.run(command, env=os.environ | {"OMP_NUM_THREADS": threads}, stderr=subprocess.DEVNULL)
        result = json.loads([line for line in output.splitlines() if line.startswith("{")][-1])
        return Result(result["seconds"], result["losses"], resident)

    def missing(self, python):
        """The modules that this Python lacks."""
        return [name for name in self.modules
                if subprocess.run([python, "-c", f"import {name}"], stderr=subprocess.DEVNULL, check=False).returncode]


class LlmC:
    """train_gpt2 of a checkout of llm.c, which has its own parameters and data: its losses are not compared."""
    name = "llm.c"

    def prepare(self, setup):
        pass

    def run(self, setup):
        output, resident = tools.run(["./train_gpt2"], cwd=setup.arguments.llmc,
                                     env=os.environ | {"OMP_NUM_THREADS": str(setup.work.threads)})
        return Result([float(ms) / 1e3 for ms in re.findall(r"took ([0-9.]+) ms", output)][:setup.steps], [], resident)


ONE_RANK = [Python("torch-eager", "torch_train.py", "eager", ["torch", "transformers"]),
            Python("torch-compile", "torch_train.py", "compile", ["torch", "transformers"]),
            Python("jax-jit", "jax_train.py", "jit", ["jax"])]
MANY_RANKS = [Python("torch-ddp", "torch_train.py", "ddp", ["torch", "transformers"]),
              Python("torch-fsdp2", "torch_train.py", "fsdp2", ["torch.distributed.fsdp", "transformers"])]


def ours(work, arguments):
    if work.ranks == 1:
        return [Compiled("braid")] + [Compiled("braid " + text, options=shlex.split(text)) for text in arguments.also]
    return [Compiled(f"braid-{name}-{transport}", transport, [f"--zero={zero}"])
            for transport in arguments.transports.split(",") for name, zero in (("ddp", 0), ("zero-3", 3))]


def choose(work, arguments):
    """Returns the sides that can run here, and prints the others."""
    sides = ours(work, arguments)
    for side in ONE_RANK if work.ranks == 1 else MANY_RANKS:
        if arguments.peers and side.name not in arguments.peers.split(","):
            continue
        if missing := side.missing(arguments.python):
            tools.note(f"{work.key}: {side.name} is left out: {arguments.python} has no {' and no '.join(missing)}")
        else:
            sides.append(side)
    if arguments.llmc and work.name == "gpt2-4x64" and work.ranks == 1 and work.precision == "f32":
        if (arguments.llmc / "train_gpt2").exists():
            sides.append(LlmC())
        else:
            tools.note(f"{work.key}: llm.c is left out: {arguments.llmc} has no train_gpt2; make it there")
    return sides
