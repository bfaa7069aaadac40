"""Finds the first pass after which two programs differ, or else the first kernel or call.

Passes are tried in the interpreter: up to some N, the graph after the first N passes trains a step exactly as the graph
itself. A binary search finds this N. If the interpreter cannot run a module, such as one with open shardings, the
search tries the neighbouring modules. If all passes agree, generated code or the runtime differs. The search then
tries, one by one, switches that leave out a kind of kernel or call.
"""

from . import check, command, programs


def elements(text, separators="([{", closers=")]}"):
    """Splits a pipeline at commas outside of brackets."""
    parts, depth = [""], 0
    for character in text:
        depth += (character in separators) - (character in closers)
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]


def passes_of(text):
    """Returns the passes of a pipeline, each nested in its op separately."""
    found = []
    for element in elements(text):
        nested, _, rest = element.partition("(")
        if nested in ("builtin.module", "func.func") and rest.endswith(")"):
            inner = passes_of(rest[:-1])
            found += inner if nested == "builtin.module" else [f"func.func({one})" for one in inner]
        else:
            found.append(element)
    return found


def name_of_pass(element):
    return element.removeprefix("func.func(").removesuffix(")").partition("{")[0] if element.startswith("func.func(") \
        else element.partition("{")[0]


def is_of_sgd(what):
    return "SGD" in what or "without" in what


class Search:
    """Prefixes of the passes, and whether a step of each equals a step of the one-rank program."""

    def __init__(self, folder, graph, seed, options, what, tolerance):
        self.options, self.what, self.tolerance, self.known = options, what, tolerance, {}
        self.of_sgd, self.untargeted = is_of_sgd(what), what == "step without targets"
        self.engine = programs.Interpreted(folder / "bisect", graph, seed)
        self.passes = passes_of(programs.made("braidc", graph, "--print-pipeline", *options).stdout.decode())
        of_one_rank = command.of_one_rank(options, graph.read_text())
        self.reference = self.engine.build("expected", of_one_rank, is_reference=True)
        self.expected = self.measure(self.reference)

    def measure(self, program):
        if self.what == "sample":
            return self.engine.logits(program)
        rate = check.FIRST_RATE if self.of_sgd else 0.1
        return self.engine.train(program, 1 if self.of_sgd else 2, rate, untargeted=self.untargeted)

    def differs(self, count):
        """Returns whether a step after `count` passes differs; None if the module cannot run."""
        if count not in self.known:
            program = self.engine.with_passes("found", self.passes[:count], self.options)
            try:
                self.known[count] = self.difference(program)
            except programs.Broken:
                self.known[count] = None
        return self.known[count]

    def difference(self, program):
        if self.what == "sample":
            found = self.measure(program)
            names = [name for name in self.expected if name in found]
            return check.worst_of(found, self.expected, names)[0] > self.tolerance
        try:
            found = self.measure(program)
        except programs.Broken:
            # Before the optimizer's pass the program returns only a loss.
            loss = self.engine.losses(program, untargeted=self.untargeted)
            return check.loss_error(loss, self.expected.losses[:1]) > self.tolerance / 10
        start = {name: values for name, values in self.engine.start.items() if name in found.tensors}
        error = check.worst(found.tensors, self.expected.tensors, start, with_states=not self.of_sgd)[0]
        return error > self.tolerance or check.loss_error(found.losses, self.expected.losses) > self.tolerance / 10

    def runs_near(self, low, high):
        """Returns the count nearest to the middle of two counts whose module can run."""
        middle = (low + high) // 2
        for count in sorted(range(low + 1, high), key=lambda count: abs(count - middle)):
            if self.differs(count) is not None:
                return count
        return None

    def first(self):
        """Returns the passes between the last module that agrees and the first that differs; none if all agree."""
        low, high = 0, len(self.passes)
        if self.differs(high) is None:
            raise programs.Broken("the interpreter cannot run the program in memory")
        if not self.differs(high):
            return []
        while (middle := self.runs_near(low, high)) is not None:
            low, high = (low, middle) if self.differs(middle) else (middle, high)
        return [name_of_pass(element) for element in self.passes[low:high]]


def first_switch(folder, graph, seed, options):
    """Returns the first switch with which compiled programs agree; None if there is none."""
    given = list(map(command.name_of, options))
    switches = command.PLAIN + (command.PLAIN_RANKS if "--mesh" in given else ())
    for switch in switches:
        if command.name_of(switch) in given:
            continue
        tried = check.Check(programs.Compiled(folder, graph, seed), [*options, switch])
        try:
            if all(result.same for result in tried.run()):
                return switch
        except (programs.Broken, command.Refusal):
            continue
    return None


def bisect(folder, graph, seed, options, wrong):
    """Returns a line about the cause of a difference."""
    options = command.with_sgd(options) if is_of_sgd(wrong.what) else command.with_optimizer(options)
    # Comparisons that are exact elsewhere have a tolerance here.
    tolerance = wrong.tolerance * (10 if wrong.tensor == check.LOSS else 1) or check.state_tolerance(options)
    search = Search(folder, graph, seed, command.without(options, ("--transports",)), wrong.what, tolerance)
    found = search.first()
    if found:
        return f"bisect: they differ behind {found[-1]}" + (
            f" ({len(found) - 1} passes before it leave nothing that can be run: {', '.join(found[:-1])})"
            if found[1:] else "")
    switch = first_switch(folder, graph, seed, options)
    return "bisect: all passes agree in the interpreter, so generated code or the runtime differs" + (
        f"; with {switch} they agree" if switch else ", whatever kernels and calls there are")
