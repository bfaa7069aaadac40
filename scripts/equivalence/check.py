"""The comparisons of a check, and their verdict."""

import dataclasses
import math

from . import command, programs
from .differences import TOLERANCE, TOLERANCE_BF16, Incomparable, changes, norm, difference, worst_of

LOSS = "the loss"
FIRST_RATE = 1  # makes the change of a parameter its gradient
# If rounding has a large effect, the allowed error is this multiple of the effect, up to a part of a tensor. Both
# programs round, so the effect on one program is allowed twice.
ROUNDING, MOST_ROUNDING, MOST_ROUNDING_BF16 = 10, 0.5, 2 * TOLERANCE_BF16
# A missing gradient or square has the error 1, so an error of 1 is never allowed.
MOST_OF_ALL, MOST_OF_SQUARES = 0.9, 0.4
RATES = {"sgd": 0.02, "momentum": 0.02, "nesterov": 0.02}
OTHER_RATE = 1e-3
LEAST_CHANGE = 3e-4  # of an element, below which rounding of weights shows


@dataclasses.dataclass
class Result:
    """A comparison: its worst tensor, the error, and the allowed error (0: the bits must be equal)."""
    what: str
    tensor: str = ""
    error: float = 0.0
    tolerance: float = 0.0
    note: str = ""

    @property
    def same(self):
        return self.error <= self.tolerance

    def share(self):
        """Returns the error as a share of the allowed error."""
        return self.error / self.tolerance if self.tolerance else self.error

    def line(self):
        verdict = "same" if self.same else "DIFFERS"
        if self.note:
            return f"{self.what:<22} {verdict:<8} {self.note}"
        return f"{self.what:<22} {verdict:<8} worst {self.tensor}: {self.error:.1e} of {self.tolerance:.0e}"


def tolerance_of(options):
    """Returns the allowed error of a first step."""
    return TOLERANCE_BF16 if command.value_of(options, "--precision") == "bf16" else TOLERANCE


def state_tolerance(options):
    """Returns the allowed error of moments, which may be rounded."""
    rounded = {"bf16": 0.02, "int8": 0.1}.get(command.value_of(options, "--optimizer-state"), 0)
    return max(min(tolerance_of(options) * 10, 2 * TOLERANCE_BF16), rounded)


def allowed_of(options, rounding):
    """Returns the allowed error if rounding changes the graph itself by this much."""
    most = MOST_ROUNDING_BF16 if tolerance_of(options) == TOLERANCE_BF16 else MOST_ROUNDING
    if not math.isfinite(rounding):
        raise Incomparable("the graph itself gives no numbers")
    return min(ROUNDING * rounding, max(most, min(2 * rounding, MOST_OF_ALL)))


def loss_error(found, expected):
    if len(found) != len(expected) or not expected:
        raise programs.Broken(f"{len(found)} losses beside {len(expected)}")
    errors = [abs(one - other) / max(abs(other), 1e-3) for one, other in zip(found, expected)]
    return max(error if error == error else float("inf") for error in errors)


def groups_of(tensors, parameters):
    """Groups the states of a step: those with one suffix behind the names of parameters, and all others."""
    groups = {}
    for name in tensors:
        owner = max((parameter for parameter in parameters if name.startswith(parameter + ".")), key=len, default=None)
        if name not in parameters:
            groups.setdefault(name[len(owner):] if owner else "", []).append(name)
    return groups


def worst(found, expected, start, with_states, with_parameters=True, each=LEAST_CHANGE):
    """Returns the worst changes of parameters and of each kind of state; `each` is the least change that counts."""
    if missing := sorted((expected.keys() if with_states else start.keys()) - found.keys()):
        return math.inf, missing[0]
    errors = []
    if with_parameters:
        errors.append(worst_change(changes(found, start), changes(expected, start), each))
    for names in groups_of(expected, start).values() if with_states else []:
        if other := next((name for name in names if len(found[name]) != len(expected[name])), None):
            return math.inf, other
        errors.append(worst_change(found, {name: expected[name] for name in names}, 0.0))
    if not errors:
        raise Incomparable("there are no moments to compare")
    return max(errors)


def worst_change(found, expected, each):
    if any(norm(values) for values in expected.values()):
        return worst_of(found, expected, list(expected), each)
    # Nothing changes, as in a step without targets.
    errors = ((norm(difference(found[name], expected[name])), name) for name in expected)
    return max((error if error == error else math.inf, name) for error, name in errors)


class Check:
    """The programs of one graph, and the results of their comparisons."""

    def __init__(self, engine, options):
        self.engine, self.options = engine, options
        self.graph = engine.graph.read_text()
        self.optimizer = command.value_of(options, "--optimizer", "adamw")
        self.rate = RATES.get(self.optimizer, OTHER_RATE)
        self.results = []

    def build(self, name, options):
        """The requested program, and the program of one rank."""
        # A refusal must come from the requested program.
        found = self.engine.build(name, options)
        try:
            return found, self.engine.build(f"{name}-one", command.of_one_rank(options, self.graph), is_reference=True)
        except command.Refusal as error:
            raise programs.Broken(f"the one-rank program is refused: {error}") from None

    def add(self, what, programs_of_both, run, tolerance, **parts):
        """Compares the losses and tensors of steps. Finds the share of rounding in a large difference."""
        found, expected = (run(self.engine, program) for program in programs_of_both)
        result = self.compare(what, found, expected, tolerance, **parts)
        if not result.same:
            allowed = allowed_of(self.options, self.rounding(what, run, **parts))
            result = self.compare(what, found, expected, max(allowed, tolerance), **parts)
        self.results.append(result)

    def compare(self, what, found, expected, tolerance, **parts):
        error, tensor = worst(found.tensors, expected.tensors, self.engine.start, **parts)
        # A loss sums over all targets, and their errors have either sign.
        loss = Result(what, LOSS, loss_error(found.losses, expected.losses), tolerance / 10)
        return max(loss, Result(what, tensor, error, tolerance), key=Result.share)

    def rounding(self, what, run, **parts):
        """Returns the error of the graph itself in its own types, compared with f64."""
        with_sgd = parts.get("with_states") is False
        interpreter, graph = self.exact_graph((command.with_sgd if with_sgd else command.with_optimizer)(self.options))
        native, exact = (run(interpreter, graph, arithmetic=arithmetic) for arithmetic in ("native", "f64"))
        return self.compare(what, native, exact, 1, **parts).share()

    def exact_graph(self, options):
        """The graph's programs in the interpreter, which computes in f64, too."""
        interpreter = programs.Interpreted(self.engine.folder / "rounding", self.engine.graph, self.engine.seed)
        return interpreter, interpreter.build("graph", command.of_one_rank(options, self.graph), is_reference=True)

    def first_step(self, without_targets):
        self.first = self.build("first", command.with_sgd(self.options))
        for what, untargeted in (("first step, SGD", False), ("step without targets", True)):
            if not untargeted or (without_targets and self.engine.inputs.ignored is not None):
                def run(engine, program, **how):
                    return engine.train(program, 1, FIRST_RATE, untargeted=untargeted, **how)
                self.add(what, self.first, run, tolerance_of(self.options), with_states=False)

    def second_step(self):
        options = command.with_optimizer(self.options)
        self.second = self.first if self.optimizer == "sgd" else self.build("second", options)
        # Lion's updates are signs. If a gradient is 0, they are the signs of rounding errors.
        self.add(f"two steps, {self.optimizer}", self.second, lambda engine, program, **how: engine.train(
                 program, 2, self.rate, **how), state_tolerance(self.options), with_states=True,
                 with_parameters=self.has_exact_updates(),
                 each=0.1 * self.rate if self.optimizer.startswith("adam") else LEAST_CHANGE)

    def has_exact_updates(self):
        """Whether two steps compare parameters."""
        return self.optimizer != "lion" and command.value_of(self.options, "--optimizer-state", "f32") == "f32"

    def noise_scale(self):
        """Compares the squares of gradients of --noise-scale with those of ranks along the batch only."""
        if "--noise-scale" not in self.options:
            return
        of_data_ranks = self.engine.build("noise", command.of_data_ranks(command.with_optimizer(self.options)))
        found, expected = (self.engine.train(one, 1, self.rate).squares for one in (self.second[0], of_data_ranks))
        keeps_apart = self.engine.saves or not command.adds_up_on_ranks(self.options)
        names = programs.SQUARES if keeps_apart else ("grad_sq_global",)
        is_logged = any(squares[name] for squares in (found, expected) for name in names)
        if not is_logged and self.engine.saves and self.engine.inputs.ignored is not None:
            note = "not logged: masks leave ranks unequal numbers of targets; --interpret compares it"
            self.results.append(Result("noise scale", note=note))
            return
        error, name = max((loss_error(found[name], expected[name]), name) for name in names)
        tolerance = 2 * tolerance_of(self.options)
        if error > tolerance:  # what rounding does to the gradients
            tolerance = min(2 * self.results[0].tolerance, MOST_OF_SQUARES)
        self.results.append(Result("noise scale", name, error, tolerance))

    def sample(self):
        if not self.engine.inputs.tokens or command.value_of(self.options, "--sampling") == "off":
            return
        if self.engine.saves:
            if tolerance_of(self.options) == TOLERANCE_BF16:
                return  # rounding decides between tokens
            text = self.engine.sample_differs(*self.second)
            self.results.append(Result("sample", error=float(text is not None), note=text or "the same text"))
            return
        found, expected = map(self.engine.logits, self.second)
        if "decode" in expected.keys() - found.keys() and "--without=tg-make-decode" not in self.options:
            raise programs.Broken("the program has no decode, which --without=tg-make-decode alone leaves out")
        tolerance = max(tolerance_of(self.options), TOLERANCE * 10)
        error, name = worst_of(found, expected, [name for name in expected if name in found])
        if error > tolerance:
            interpreter, graph = self.exact_graph(self.options)
            native, exact = (interpreter.logits(graph, arithmetic) for arithmetic in ("native", "f64"))
            tolerance = max(tolerance, allowed_of(self.options, worst_of(native, exact, list(exact))[0]))
        self.results.append(Result("sample", f"the logits of {name}", error, tolerance))

    def resumed_step(self):
        if self.engine.saves:
            tensor = self.engine.resume_differs(self.second[0], self.rate)
            note = f"{tensor} is not that of a step that was not interrupted" if tensor else "to the bit"
            self.results.append(Result("resumed step", error=float(tensor is not None), note=note))

    def run(self, with_sgd=True, with_others=True):
        """Makes all comparisons; those with plain SGD only if another optimizer's say too little."""
        if with_sgd or self.optimizer == "sgd" or not self.has_exact_updates():
            self.first_step(with_others)
        if with_others:
            self.second_step()
            self.noise_scale()
            self.sample()
            self.resumed_step()
        return self.results


def verdict(results):
    """Returns the last line: the worst of all comparisons."""
    wrong = [result for result in results if not result.same]
    if wrong:
        return "differ: " + ", ".join(result.what for result in wrong)
    measured = max((result for result in results if result.tolerance), key=Result.share)
    return (f"same: the worst tensor is {measured.tensor}, with an error of {measured.error:.1e} of the "
            f"{measured.tolerance:.0e} allowed")
