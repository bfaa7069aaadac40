"""Splits a command line into words of braid-model and words of braidc for the one-rank program."""

import math
import re

MODEL_OPTIONS = ("--preset", "--batch", "--seq", "--pack", "--expert-bound", "--capacity-factor")
FLAGS = ("--pack", "--merge-matmuls", "--sequence-parallel", "--unreduced-accumulators", "--noise-scale", "--reshard-after-forward")
# Refused options: a check does not need the files and texts that they write.
REFUSED = ("--emit", "-o", "--report", "--keep", "--print-pipeline", "--print-ir-after", "--compare", "-v", "--count",
           "--keep-sources", "--version")

# Options that change what is computed. The others only change how.
MEANING = ("--optimizer", "--hyperparameters", "--beta1", "--beta2", "--eps", "--momentum", "--weight-decay",
           "--decay-exclude", "--clip", "--precision", "--grad-dtype", "--optimizer-state", "--hook", "--sampling",
           "--cpu", "--cc", "--runtime-dir")
# Options of optimizers that plain SGD does not have.
OPTIMIZER = ("--optimizer", "--hyperparameters", "--beta1", "--beta2", "--eps", "--momentum", "--optimizer-state")
# Passes that may be left out without changing the result, and options that choose plainer code.
OPTIONAL = ("tg-merge-contractions", "exec-shorten-row-loops", "exec-stream-stores", "exec-select-dot-products",
            "exec-copy-panels", "exec-early-updates", "exec-lower-peak", "tg-make-decode", "exec-select-epilogues",
            "exec-select-bias-gradients", "exec-select-addends")
PLAIN = ("--attention=decompose", "--loss-chunk=none", "--recompute=none", "--row-alignment=0",
         *(f"--without={name}" for name in OPTIONAL))
PLAIN_RANKS = ("--overlap=none", "--bucket-mb=0", "--collectives=library", "--zero=0")

# Ops whose result depends on the split into microbatches: statistics of a batch, and random numbers.
OF_MICROBATCH = re.compile(r"tg\.load_balance|tg\.router_z|dropout|#tg\.role<key>|running_statistic")


class Usage(Exception):
    """An invalid command line."""


class Refusal(Exception):
    """The message of braid-model or braidc, which refuses the model or an option."""


def joined(words):
    """Returns options as --name=value, and the words that are not options."""
    options, others, pending = [], [], list(words)
    while pending:
        word = pending.pop(0)
        if not word.startswith("-") or word == "-":
            others.append(word)
        elif "=" in word or word in FLAGS or not pending or pending[0].startswith("--"):
            options.append(word)
        else:
            options.append(f"{word}={pending.pop(0)}")
    return [one for option in options for one in one_by_one(option)], others


def one_by_one(option):
    """An option as several: --without=A,B as --without=A and --without=B."""
    name, _, value = option.partition("=")
    return [f"{name}={one}" for one in value.split(",")] if name == "--without" else [option]


def name_of(option):
    """The part before the value. Each pass that --without leaves out is an option of its own."""
    return option if option.startswith("--without=") else option.split("=", 1)[0]


def value_of(options, name, default=None):
    """Returns the value of the last of these options."""
    values = [option.partition("=")[2] for option in options if name_of(option) == name]
    return values[-1] if values else default


def number_of(options, name, default):
    """A value that must be a positive number."""
    value = value_of(options, name, str(default))
    if not (value.isascii() and value.isdecimal() and len(value) < 10 and int(value) > 0):
        raise Usage(f"{name}={value}: give a number of 1 or more")
    return int(value)


def replaced(options, values):
    """The options with these values."""
    return without(options, tuple(values)) + [f"{name}={value}" for name, value in values.items()]


def without(options, names):
    return [option for option in options if name_of(option) not in names]


def split(options):
    """Returns the options of braid-model and those of braidc."""
    for option in options:
        if name_of(option) in REFUSED:
            raise Usage(f"{name_of(option)} is about what a tool writes, and a check keeps nothing: leave it out")
    return [[option for option in options if (name_of(option) in MODEL_OPTIONS) == of_model]
            for of_model in (True, False)]


def mesh_of(options):
    """Returns the axes of --mesh and their sizes. braidc refuses sizes that are not numbers."""
    axes = dict(axis.partition("=")[::2] for axis in value_of(options, "--mesh", "").split(",") if axis)
    return {axis: max(int(size), 1) if size.isdecimal() else 1 for axis, size in axes.items()}


def with_sgd(options):
    """Returns the same options for plain SGD, which also decays weights."""
    if value_of(options, "--optimizer") == "sgd":
        return list(options)
    pairs = [pair for option in options if name_of(option) == "--hyperparameters"
             for pair in option.partition("=")[2].split(",")]
    decay = [f"--hyperparameters={pair}" for pair in pairs if pair.startswith("weight_decay=")]
    return ["--optimizer=sgd", *without(options, OPTIMIZER), *decay]


def with_optimizer(options):
    """Returns the options with an eps for Adam that avoids dividing rounding errors by rounding errors."""
    says_eps = any(name_of(option) == "--eps" or "eps=" in option for option in options)
    is_adam = value_of(options, "--optimizer", "adamw") in ("adam", "adamw")
    return [*options, "--eps=1e-2"] if is_adam and not says_eps else list(options)


def adds_up_on_ranks(options):
    """Returns whether ranks add up gradients of several microbatches, which the interpreter merges."""
    reduces_each = value_of(options, "--zero") in ("2", "3") and "--unreduced-accumulators" not in options
    return value_of(options, "--accumulate", "1") != "1" and not reduces_each


def of_data_ranks(options):
    """Returns the options of a program with as many ranks, all along the batch, that measures the noise scale."""
    ranks = math.prod(size for axis, size in mesh_of(options).items() if axis not in ("tp", "cp", "pp", "ep"))
    names = ["--accumulate", "--noise-scale"]
    names += ["--zero", "--unreduced-accumulators"] if value_of(options, "--accumulate") else []
    kept = [option for option in options if name_of(option) in (*MEANING, *names)]
    return [f"--mesh=dp={ranks}", *kept]


def of_one_rank(options, graph):
    """Returns those of the options with which a program of one rank computes the same."""
    kept = [option for option in options if name_of(option) in MEANING]
    accumulate = [option for option in options if name_of(option) == "--accumulate"]
    return kept + (accumulate if OF_MICROBATCH.search(graph) else [])
