"""Compares one model compiled with different options; the programs take turns."""

import json
import pathlib
import statistics
import subprocess

import gpt2
import tools
import works

# Settings by name of a preset of braid-model.
MODELS = {"gpt2": gpt2.CONFIG, "gpt-small": works.small_gpt(256, 192, 4, 6, 256)}


def add_arguments(parser, batch, seq):
    parser.add_argument("--model", choices=MODELS, default="gpt2", help="which model (gpt2)")
    parser.add_argument("--batch", type=int, default=batch, help=f"sequences of a step ({batch})")
    parser.add_argument("--seq", type=int, default=seq, help=f"tokens of a sequence ({seq})")
    parser.add_argument("--layers", type=int, help="layers of the model (as many as it has)")
    parser.add_argument("--threads", type=int, default=tools.processors())
    parser.add_argument("--steps", type=int, default=4, help="timed steps of a run, behind one that is left out (4)")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each (5)")


class Turns:
    """A model in a folder, and programs of it."""

    def __init__(self, arguments, folder):
        self.arguments, self.folder = arguments, pathlib.Path(folder)
        self.plans, self.seconds, self.losses = {}, {}, {}
        config = MODELS[arguments.model]
        arguments.layers = arguments.layers or config["n_layer"]
        config = config | {"n_layer": arguments.layers}
        (self.folder / "config.json").write_text(json.dumps(config))
        tools.run([arguments.build / "bin" / "braid-model", self.folder / "config.json", "--batch", arguments.batch,
                   "--seq", arguments.seq, "-o", self.folder / "model.mlir"])
        tokens = (arguments.steps + 1) * arguments.batch * arguments.seq + 1
        gpt2.write_tokens(self.folder / "tokens.bin", max(tokens, 20 * arguments.batch * arguments.seq), config["vocab_size"])

    def compile(self, name, *options):
        """Returns the plan."""
        tools.run([self.arguments.build / "bin" / "braidc", self.folder / "model.mlir", "-o", self.folder / name,
                   f"--report={self.folder / name}.json", *options], stderr=subprocess.DEVNULL)
        self.plans[name] = json.loads((self.folder / f"{name}.json").read_text())
        self.seconds[name] = []
        return self.plans[name]

    def _run(self, name):
        log = self.folder / "metrics.jsonl"
        log.unlink(missing_ok=True)
        tools.run([self.folder / name, "train", "--data", self.folder / "tokens.bin", "--steps", self.arguments.steps + 1,
                   "--threads", self.arguments.threads, "--log", log], stderr=subprocess.DEVNULL)
        steps = [line for line in map(json.loads, log.read_text().splitlines()) if "seconds" in line]
        self.seconds[name] += [line["seconds"] for line in steps[1:]]
        self.losses[name] = steps[-1]["loss"]

    def run(self):
        """All rounds; each begins with the next program."""
        names = list(self.plans)
        for number in range(self.arguments.rounds):
            turn = number % len(names)
            for name in names[turn:] + names[:turn]:
                self._run(name)

    def best(self, name):
        return min(self.seconds[name])

    def median(self, name):
        return statistics.median(self.seconds[name])
