"""Reads the memory form (`braidc --emit=memory`): programs as lists of actions on bytes of the arena.

A reader of its own, which shares nothing with the compiler but the text.  An action is any op of an exec.program but
exec.buffer and exec.ref; its operands are references: a tensor or buffer, an offset in bytes, sizes and strides.
Bytes of the host's memory are counted from HOST.
"""
import re

SIZES = {"f64": 8, "f32": 4, "bf16": 2, "i64": 8, "i32": 4, "i8": 1, "i1": 1}
HOST = 1 << 62
PLACE = re.compile(r"exec\.(tensor|buffer|pack) @(\S+) at (\d+) bytes (\d+)( host)?")
SLOTS = re.compile(r"exec\.slots @(\S+) (\d+) at (\d+) bytes (\d+)")
IN_SLOTS = re.compile(r"exec\.tensor @(\S+) .* slots @(\S+) category")
REFERENCE = re.compile(r"(%\w+) = exec\.ref @(\S+) \+ (\d+) : (.*)")
TYPE = re.compile(r"<((?:\d+x)*)(\w+), \[([\d, ]*)\]")


class Reference:
    def __init__(self, begin, shape, strides, size):
        self.ranges = merged(runs(begin, list(zip(shape, strides)), size))


class Action:
    """`kind` is the op's name, `inner` the collective of a comm.start; references in ins and outs are merged ranges."""

    def __init__(self, kind, inner, ins, outs, result, uses, text):
        self.kind, self.inner, self.ins, self.outs = kind, inner, ins, outs
        self.result, self.uses, self.text = result, uses, text


class Program:
    """`ctas`: the most of a collective; 0: as many as the library chooses.  `host_bytes`: of its buffers there.
    `slots`: those that it uses, as offset, bytes of one and their number."""

    def __init__(self, name, ctas):
        self.name, self.ctas, self.actions, self.workspaces, self.host_bytes = name, ctas, [], [], 0
        self.slots = set()

    def in_first_slots(self, begin, end, used):
        """The same bytes of the first slots, where they lie in slots; notes in `used` which slots of each."""
        ends = {offset + i * size for offset, size, count in self.slots for i in range(count + 1)}
        places = [begin, *sorted(place for place in ends if begin < place < end), end]
        for begin, end in zip(places, places[1:]):
            for offset, size, count in self.slots:
                number = (begin - offset) // size
                if 0 <= number < count:
                    used.setdefault(offset, set()).add(number)
                    begin, end = begin - number * size, end - number * size
                    break
            yield begin, end


def withoutLocations(text):
    kept, end = [], 0
    while (begin := text.find(" loc(", end)) >= 0:
        kept.append(text[end:begin])
        end, depth = begin + len(" loc("), 1
        while depth:
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
    return "".join(kept) + text[end:]


def runs(begin, dims, size):
    """The contiguous ranges of a strided reference."""
    dims = sorted(((n, s) for n, s in dims if n != 1 and s != 0), key=lambda d: d[1])
    length = size
    while dims and dims[0][1] * size == length:
        length *= dims.pop(0)[0]
    starts = [begin]
    for count, stride in reversed(dims):
        starts = [start + i * stride * size for start in starts for i in range(count)]
    return [(start, start + length) for start in starts]


def merged(ranges):
    result = []
    for begin, end in sorted(ranges):
        if result and begin <= result[-1][1]:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        else:
            result.append((begin, end))
    return result


def without(ranges, cover):
    """Returns the parts of merged ranges that other merged ranges leave uncovered."""
    result, i = [], 0
    for begin, end in ranges:
        while i < len(cover) and cover[i][1] <= begin:
            i += 1
        j = i
        while begin < end and j < len(cover) and cover[j][0] < end:
            if cover[j][0] > begin:
                result.append((begin, cover[j][0]))
            begin = max(begin, cover[j][1])
            j += 1
        if begin < end:
            result.append((begin, end))
    return result


def balanced(text, start):
    """Returns the end of the parenthesis that opens at `start`."""
    depth = 0
    for i in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[i], 0)
        if depth == 0:
            return i + 1
    raise ValueError("unbalanced: " + text[start:start + 80])


def statements(lines):
    """The ops of a program's body, one string each: regions of comm.start included."""
    text, depth = "", 0
    for line in lines:
        text += line.strip() + " "
        bare = re.sub(r'"[^"]*"', "", line)
        depth += bare.count("{") - bare.count("}")
        if depth == 0:
            yield text.strip()
            text = ""


def action(text, references):
    result = re.match(r"(%\w+) = ", text)
    kind = re.match(r"(?:%\w+ = )?([a-z_]+\.[a-z_]+)", text).group(1)
    inner = re.search(r"\{ (comm\.[a-z_]+)", text) if kind == "comm.start" else None
    outs, rest = set(), text
    at = text.find("outs(")
    if at >= 0:
        end = balanced(text, at + 4)
        outs = set(re.findall(r"%\w+", text[at:end]))
        rest = text[:at] + text[end:]
    ins = set(re.findall(r"%\w+", rest)) - ({result.group(1)} if result else set())
    ranges = lambda names: merged(r for name in names if name in references for r in references[name].ranges)
    uses = [name for name in ins if name not in references]
    return Action(kind, inner.group(1) if inner else kind, ranges(ins), ranges(outs), result.group(1) if result else None,
                  uses, text)


def place_of(match):
    return (int(match.group(3)) + (HOST if match.group(5) else 0), int(match.group(4)))


def read(path):
    """The programs of a module, how many bytes each wants (an arena is the largest of those that a rank runs), and how
    many of the host's memory, as many as the largest of those that a rank runs."""
    programs, places, arenas, slots = [], {}, set(), Slots()
    with open(path, encoding="utf-8") as file:
        text = withoutLocations(file.read())
    lines, ctas = iter(text.splitlines()), re.search(r"comm\.ctas = (\d+)", text)
    for line in lines:
        slots.read(line)
        if place := PLACE.search(line):
            places["@" + place.group(2)] = place_of(place)
        elif opened := re.match(r"\s*exec\.program @(\S+) arena (\d+)", line):
            arenas.add(int(opened.group(2)))
            body, indent = [], re.match(r"\s*", line).group(0)
            for inside in lines:
                if inside == indent + "}":
                    break
                body.append(inside)
            programs.append(program(opened.group(1), int(ctas.group(1)) if ctas else 0, body, dict(places), slots))
    persistent = end_on_host(places)
    hosts = {persistent, *(one.host_bytes for one in programs), *(max(persistent, one.host_bytes) for one in programs)}
    return programs, arenas, hosts - {0}


def end_on_host(places):
    return max((begin + size - HOST for begin, size in places.values() if begin >= HOST), default=0)


class Slots:
    """Returns the slots of each tensor."""

    def __init__(self):
        self.ranges, self.of = {}, {}

    def read(self, line):
        if found := SLOTS.search(line):
            self.ranges[found.group(1)] = (int(found.group(3)), int(found.group(4)), int(found.group(2)))
        if found := IN_SLOTS.search(line):
            self.of["@" + found.group(1)] = found.group(2)


def program(name, ctas, body, places, slots):
    result, references, buffers = Program(name, ctas), {}, {}
    for text in statements(body):
        if place := PLACE.match(text):
            buffers["@" + place.group(2)] = places["@" + place.group(2)] = place_of(place)
            if text.endswith(' scratch'):
                begin = int(place.group(3))
                result.workspaces.append((begin, begin + int(place.group(4))))
        elif reference := REFERENCE.match(text):
            to, symbol, offset, kind = reference.groups()
            if "@" + symbol in slots.of:
                result.slots.add(slots.ranges[slots.of["@" + symbol]])
            shape, element, strides = TYPE.search(kind).groups()
            references[to] = Reference(places["@" + symbol][0] + int(offset), [int(n) for n in shape.split("x") if n],
                                       [int(s) for s in strides.split(",") if s.strip()], SIZES[element])
        else:
            result.actions.append(action(text, references))
    result.host_bytes = end_on_host(buffers)
    return result
