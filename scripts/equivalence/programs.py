"""Builds and runs the programs of a graph, compiled or interpreted: training steps and samples."""

import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading

from . import checkpoints, command, data, safetensors_file

LIMIT = 600  # seconds of one command
# Messages of verifiers and of a C++ compiler about Braid's own output, with status 1. Messages about ops of tg are
# about the model instead.
OWN_ERROR = re.compile(r"this is an error in Braid|' failed on generated code \(|"
                       r"error: '(exec|comm)\.(?!constrain)\w+' op |\bdeadlock: ")
SQUARES = ("grad_sq_local", "grad_sq_global")
HERE = pathlib.Path(__file__).resolve()


class Broken(Exception):
    """A tool or a program crashed, or ended in another way that is never right."""


def tool(name):
    """The tool of this installation, or of PATH."""
    share, prefix = HERE.parents[2], HERE.parents[min(4, len(HERE.parents) - 1)]
    return str(prefix / "bin" / name) if share == prefix / "share" / "braid" else name


def run(*words):
    """Returns the exit status of the command and its output, or the message if it could not be started."""
    words = [str(word) for word in words]
    try:
        return subprocess.run(words, capture_output=True, timeout=LIMIT, check=False)
    except subprocess.TimeoutExpired:
        raise Broken(f"{' '.join(words)}: no end after {LIMIT} s") from None
    except OSError as error:
        raise command.Usage(f"cannot start '{words[0]}': {error.strerror}; put Braid's tools in PATH") from None


def text_of(done):
    return done.stderr.decode(errors="replace").strip()


def tell(done):
    """Returns how a process ended, for a message."""
    status = done.returncode
    return f"is ended by {signal.Signals(-status).name}" if status < 0 else f"ends with {status}"


def made(*words):
    """Runs a tool that may refuse what it was given."""
    done = run(tool(words[0]), *words[1:])
    if done.returncode in (1, 2) and not OWN_ERROR.search(text_of(done)):
        raise command.Refusal(text_of(done))
    if done.returncode:
        raise Broken(f"{' '.join(map(str, words))}: {tell(done)}: {text_of(done)[:1500]}")
    return done


def ran(*words):
    done = run(*words)
    if done.returncode:
        raise Broken(f"{' '.join(map(str, words))}: {tell(done)}: {text_of(done)[:1500]}")
    return done


class Module:
    """A module that braid-interp has read, and runs in a process of its own whenever it is told to."""

    def __init__(self, *words):
        self.words = [tool("braid-interp"), *map(str, words), "--runs=-"]
        self.errors, self.told = tempfile.TemporaryFile(), 0
        self.process = subprocess.Popen(self.words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors)

    def __del__(self):
        if hasattr(self, "process"):
            self.process.kill()
            self.process.communicate()

    def run(self, *words):
        line = shlex.join(map(str, words))
        limit = threading.Timer(LIMIT, self.process.kill)
        limit.daemon = True
        limit.start()
        try:
            status = self.answer(line)
        finally:
            limit.cancel()
        if status:
            done = subprocess.CompletedProcess(self.words, status, b"", self.new_errors())
            raise Broken(f"{' '.join(self.words[:-1])} {line}: {tell(done)}: {text_of(done)[:1500]}")

    def answer(self, line):
        """Returns how a run ended, or how the process ended if it is gone."""
        try:
            self.process.stdin.write(line.encode() + b"\n")
            self.process.stdin.flush()
            for answer in self.process.stdout:
                if found := re.search(rb"ended with (-?\d+)\n$", answer):  # behind half a line, where a run was killed
                    return int(found[1])
        except BrokenPipeError:
            pass
        return self.process.wait() or 1

    def new_errors(self):
        """Returns the standard error since the last call. Keeps the process's position in the file."""
        text = os.pread(self.errors.fileno(), 1 << 20, self.told)
        self.told += len(text)
        return text


class Steps:
    """Results of steps: losses, the squares of gradients that --noise-scale logs, and the tensors at the end."""

    def __init__(self, log, tensors):
        lines = [line for line in map(json.loads, log.read_text().splitlines()) if "loss" in line]
        self.losses = [line["loss"] for line in lines]
        self.squares = {name: [line[name] for line in lines if name in line] for name in SQUARES}
        self.tensors = tensors


class Engine:
    """Makes programs of a graph and runs them on the graph's data."""

    def __init__(self, folder, graph, seed):
        folder.mkdir(exist_ok=True)
        self.folder, self.graph, self.seed = folder, graph, seed
        self.inputs, self.weights = data.Inputs(graph.read_text()), folder / "weights.safetensors"
        self.start = data.weights(self.weights, graph.read_text(), seed)

    def drawn(self, number):
        """Returns the inputs that the interpreter draws for the graph."""
        path = self.folder / f"drawn-{number}.safetensors"
        if not path.exists():
            ran(tool("braid-interp"), self.graph, f"--seed={self.seed + number}", "--init", f"--save-inputs={path}",
                f"--outputs={path}.out")
        return safetensors_file.read(path)


class Compiled(Engine):
    """Training binaries, whose ranks are threads."""
    saves = True

    def build(self, name, options, is_reference=False):
        plain = [option for option in command.PLAIN if not is_own(option, options)] if is_reference else []
        made("braidc", self.graph, "-o", self.folder / name, *options, *plain)
        return name

    def write_data(self):
        # Two steps, and as many windows again for documents that share rows.
        drawn = [self.drawn(number) for number in range(4)]
        for file, untargeted in (("data", False), ("untargeted", True)):
            data.rows(self.folder / file, self.inputs, drawn, self.seed, untargeted)

    def train(self, name, steps, rate, untargeted=False, resumed=None):
        """The first steps, from initial values or from a checkpoint after the first of them."""
        saved, log = self.folder / f"{name}.saved", self.folder / f"{name}.log"
        shutil.rmtree(saved, ignore_errors=True)
        if not (self.folder / "data").exists():
            self.write_data()
        if resumed:
            saved.mkdir()
            (shutil.copytree if resumed.is_dir() else shutil.copy)(resumed, saved / resumed.name)
        inputs = self.folder / ("untargeted" if untargeted else "data")
        ran(self.folder / name, "train", f"--data={inputs}", "--holdout=0",
            "--batch-order=sequential", "--threads=1", f"--seed={self.seed}", f"--steps={steps}", f"--lr={rate}",
            f"--log={log}", "--force", f"--checkpoint={saved}", "--save-every=1", "--keep=0",
            *(["--resume"] if resumed else [f"--init={self.weights}"]))
        return Steps(log, checkpoints.read_checkpoint(self.checkpoint(name, steps)))

    def checkpoint(self, name, step):
        return next((self.folder / f"{name}.saved").glob(f"step-{step:08}*"))

    def resume_differs(self, name, rate):
        """Compares two steps with a step, a checkpoint and a step. Returns the difference, or None."""
        self.train(name, 2, rate)
        whole, first = checkpoints.bits(self.checkpoint(name, 2)), self.checkpoint(name, 1)
        apart = self.folder / "apart"
        shutil.rmtree(apart, ignore_errors=True)
        apart.mkdir()
        first.rename(apart / first.name)
        self.train(name, 2, rate, resumed=apart / first.name)
        again = checkpoints.bits(self.checkpoint(name, 2))
        for one, other in zip(whole, again):
            for tensor in sorted(one.keys() | other.keys()):
                if one.get(tensor) != other.get(tensor):
                    return tensor
        return None if len(whole) == len(again) else "the number of files"

    def sample(self, name, checkpoint, length):
        done = ran(self.folder / name, "sample", f"--checkpoint={checkpoint}", "--prompt-tokens=0,0",
                   f"--length={length}", "--threads=1", f"--seed={self.seed}")
        return done.stdout

    def sample_differs(self, name, reference):
        """Compares the samples that both draw from the first one's checkpoint. Returns None or a difference."""
        if not self.inputs.tokens:
            return None
        length, checkpoint = self.inputs.tokens[1] + 8, self.folder / f"{name}.saved"
        found, expected = (self.sample(one, checkpoint, length) for one in (name, reference))
        same = len(os.path.commonprefix([found, expected]))
        return None if found == expected else f"the texts differ behind {same} bytes"


class Interpreted(Engine):
    """Programs in memory form, which braid-interp runs. Tests the passes without generated code and runtime."""
    saves = False

    def __init__(self, folder, graph, seed):
        super().__init__(folder, graph, seed)
        self.microbatches, self.passes, self.modules = {}, {}, {}

    def build(self, name, options, is_reference=False):
        options = command.without(options, ("--transports",))
        level = "tg" if is_reference else "memory"
        made("braidc", self.graph, f"--emit={level}", "-o", self.folder / f"{name}.mlir", *options)
        self.microbatches[name] = command.value_of(options, "--accumulate", "1")
        self.modules.pop(name, None)
        return name

    def with_passes(self, name, passes, options):
        """Returns the graph after these passes, as a program."""
        file = self.folder / f"{name}.passes"
        file.write_text(",".join(passes))
        shutil.copy(self.graph, self.folder / f"{name}.mlir")
        self.microbatches[name] = command.value_of(options, "--accumulate", "1")
        self.passes[name] = [f"--pipeline-before=@{file}"]
        self.modules.pop(name, None)
        return name

    def interpret(self, name, function, *words):
        if name not in self.modules:
            self.modules[name] = Module(self.folder / f"{name}.mlir", f"--seed={self.seed}", "--init",
                                        *self.passes.get(name, []))
        self.modules[name].run(f"--function={function}", *words)

    def batch(self, untargeted):
        """The option that gives a step its inputs and weights."""
        inputs = self.folder / ("untargeted" if untargeted else "data")
        if not inputs.exists():
            data.batch(inputs, self.inputs, self.drawn(0), self.seed, untargeted)
        return f"--inputs={inputs},{self.weights}"

    def train(self, name, steps, rate, untargeted=False, arithmetic="native"):
        tensors, log = self.folder / f"{name}.safetensors", self.folder / f"{name}.log"
        self.interpret(name, "train", f"--steps={steps}", f"--arithmetic={arithmetic}",
                       f"--accumulate={self.microbatches[name]}", f"--set=lr={rate}", self.batch(untargeted),
                       f"--log={log}", f"--outputs={tensors}")
        return Steps(log, checkpoints.read_checkpoint(tensors))

    def losses(self, name, untargeted):
        """The loss of a step that changes nothing."""
        log = self.folder / f"{name}.log"
        self.interpret(name, "train", "--steps=1", f"--accumulate={self.microbatches[name]}", self.batch(untargeted),
                       f"--log={log}")
        return Steps(log, {}).losses

    def logits(self, name, arithmetic="native"):
        """Returns the logits of the whole window, and those of one more position from the caches."""
        last, found = self.inputs.tokens[1] - 1, {}
        drawn = self.drawn(0)

        def results(function, first, position, caches):
            inputs, file = self.folder / f"{name}.inputs", self.folder / f"{name}.results"
            safetensors_file.write(inputs, {**data.text(self.inputs, first, drawn), **caches})
            self.interpret(name, function, f"--arithmetic={arithmetic}", f"--set=position={position}",
                           f"--inputs={inputs},{self.weights}", f"--outputs={file}")
            found[function] = checkpoints.read(file)["logits"][1]
            return safetensors_file.read(file)

        tensors = results("generate", 0, max(last - 1, 0), {})
        if last > 0 and re.search(r"@decode(_pp\d+)?\b", (self.folder / f"{name}.mlir").read_text()):
            results("decode", last, last, {tensor.replace("updates ", "", 1): value for tensor, value in tensors.items()
                                           if tensor.startswith("updates ") and "cache" in tensor})
        return found


def is_own(option, options):
    """Returns whether the options give this option another value."""
    return command.name_of(option) in map(command.name_of, options)


def write_graph(folder, model, options):
    """Writes a model's graph to a file: a copy, or the graph that braid-model makes from a configuration."""
    graph = folder / "graph.mlir"
    if not model or model.suffix != ".mlir":
        made("braid-model", *([model] if model else []), *options, "-o", graph)
        return graph
    if options:
        raise command.Usage(f"{command.name_of(options[0])} is for configurations: '{model}' is a graph")
    try:
        graph.write_text(model.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise command.Refusal(f"cannot read '{model}': {getattr(error, 'strerror', None) or error}") from None
    return graph
