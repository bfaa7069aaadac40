"""Measures errors of tensors, and makes initial weights with peaked attention.

With weights of a standard deviation of 0.02, all weights of attention are nearly the same, and losses agree whatever
its gradients are.  So programs are compared from weights that are 15 times larger.  Biases and weights of norms are
drawn, too: a bias of 0 that is added twice is still 0.

The error of a tensor is the norm of the difference, relative to the norm of what is expected. Some gradients are zero
except for rounding, such as that of a bias of keys. Their error is relative to the largest tensor's norm times SMALL.
In f32, sums in another order differ by some 1e-6 of a tensor. TOLERANCE is 1e-4, so that an error of 1 % in a hundredth
of a tensor's norm is seen. In bf16 each operand is rounded by 2^-9, and scores of 10 by 0.02: gradients differ by up to
9 %, so only checks in f32 find an error of 1 %.
"""

import math
import operator
import pathlib
import re

SCALE, PEAK, SMALL = 15, 0.3, 1e-3
TOLERANCE, TOLERANCE_BF16 = 1e-4, 0.15
FIRST_MOMENTS = (".exp_avg", ".momentum_buffer")
NORMAL = re.compile(r"(#tg\.init<normal, 0\.0, )([-+.e\d]+)")
CONSTANT = re.compile(r'(#tg\.param<"[^"]*", #tg\.init<)(zeros|ones)')


def peaked(text):
    """A graph whose parameters have larger initial values, and how many weights it has."""
    def larger(found):
        deviation = float(found[2])
        return f"{found[1]}{max(deviation, min(deviation * SCALE, PEAK)):.6e}"

    text, count = NORMAL.subn(larger, text)
    return CONSTANT.sub(lambda found: f"{found[1]}normal, {1.0 if found[2] == 'ones' else 0.0}, {PEAK}", text), count


def peak(path):
    """Makes the initial values of all weights of a graph's file larger."""
    text, count = peaked(pathlib.Path(path).read_text())
    if not count:
        raise ValueError(f"{path}: no parameter has normal initial values")
    pathlib.Path(path).write_text(text)


class Incomparable(ValueError):
    """The tensors are not all of one kind, or there are none."""


def norm(values):
    return math.sqrt(sum(map(operator.mul, values, values)))


def difference(values, others):
    if len(values) != len(others):
        raise Incomparable(f"{len(values)} and {len(others)} elements")
    return list(map(operator.sub, values, others))


def changes(tensors, start):
    """Returns the change of each tensor that `start` has."""
    return {name: difference(tensors[name], start[name]) for name in start}


def worst_of(found, expected, names, each=0.0):
    """Returns the largest error of these tensors, and the tensor's name; each element counts as at least `each`."""
    if missing := [name for name in names if name not in found]:
        raise Incomparable(f"{missing} are in one of the two alone")
    norms = {name: norm(expected[name]) for name in names}
    least = SMALL * max(norms.values())
    if not least:
        raise Incomparable("all gradients are 0: nothing is compared")
    measures = {name: max(norms[name], least, each * math.sqrt(len(expected[name]))) for name in names}
    errors = {name: norm(difference(found[name], expected[name])) / measures[name] for name in names}
    # `max` does not find NaN.
    return max((error if error == error else math.inf, name) for name, error in errors.items())


def worst_error(found, expected, start=None):
    """The largest error of a gradient and its name: of first moments; else of the change from `start`."""
    names = [name for name in expected if name.endswith(FIRST_MOMENTS)]
    if names:
        return worst_of(found, expected, names)
    if not start:
        raise ValueError("no tensor tells of gradients")
    if missing := [name for name in start if name not in found]:
        raise Incomparable(f"{missing} are in one of the two alone")
    return worst_of(changes(found, start), changes(expected, start), list(start))
