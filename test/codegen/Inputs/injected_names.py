"""Names, locations and paths of a graph cannot become code.

  injected_names.py BRAIDC COMPILER SCRATCH

Emits a graph once with plain names and then with each hostile text in the place of its
names, and compares what a compiler reads: the sources without comments, and with the
contents of string literals left out.
"""

import itertools
import pathlib
import re
import subprocess
import sys

GRAPH = """module {
  func.func @model(
      %w: tensor<4x3xf32> {tg.param = #tg.param<"@w@", #tg.init<normal, 0.0, 1.0>, unit = "@unit@">},
      %b: tensor<4xf32> {tg.param = #tg.param<"@b@", #tg.init<zeros>, unit = "@unit@">},
      %x: tensor<8x3xf32> {tg.input = "@x@", tg.role = #tg.role<features>} loc("@loc@"))
      -> (tensor<f32> {tg.role = #tg.role<loss>}, tensor<8x4xf32> {tg.output = "@y@"}) {
    %xw = tg.contract "bi,oi->bo" %x, %w : (tensor<8x3xf32>, tensor<4x3xf32>) -> tensor<8x4xf32> loc("@loc@")
    %bs = tg.broadcast %b dims [1] : tensor<4xf32> -> tensor<8x4xf32> loc("@file@":1:2)
    %h = arith.addf %xw, %bs : tensor<8x4xf32> loc(fused["@loc@", "@file@":3:4])
    %y = tg.gelu tanh %h : tensor<8x4xf32> loc("@loc@"("@file@":5:6))
    %sq = arith.mulf %y, %y : tensor<8x4xf32>
    %loss = tg.reduce mean %sq dims [0, 1] : tensor<8x4xf32> -> tensor<f32>
    return %loss, %y : tensor<f32>, tensor<8x4xf32>
  }
}
"""
NAMES = ["w", "b", "unit", "x", "loc", "y", "file"]
# Texts that need not be valid UTF-8, because no file has them as names.
FREE = {"loc", "file"}

BREAK_OUTS = [b"\nint x;//", b"\rint x;//", b"\\", b"\\\n int x;", b"??/", b"??/\nint x;", b"*/ int x; /*", b'"); int x; ("',
              b')json" int x; R"json(', b"\x0bint x;", b"\x0cint x;", b"\xe2\x80\xa8int x;", b"\xc2\x85int x;",
              b"\xe2\x80\xae//", b"%s%n", b"${x} $(x) `x`", b"a" * 4000, b" ", b"//", b"#define x",
              bytes(range(1, 128))]
BYTES = [bytes(range(start, min(start + 64, 256))) for start in range(0, 256, 64)]


def allowed(text):
    """Removes the control characters that names of a graph cannot have."""
    return re.sub(rb"[\x01-\x08\x0b\x0c\x0e-\x1f\x7f]|\xc2[\x80-\x9f]", b"", text)


def spelled(name):
    """Returns a string in MLIR's syntax for these bytes."""
    return "".join(chr(c) if chr(c).isalnum() and c < 128 else f"\\{c:02X}" for c in name)


def tokens(braidc, compiler, folder, path, options):
    command = [braidc, path, *options, "-o", folder]
    made = subprocess.run(command, capture_output=True)
    if made.returncode:
        sys.exit(f"{command}: {made.stderr.decode(errors='replace')}")
    result = {}
    for file in sorted(folder.iterdir()):
        # Comments go, directives stay: nothing is included.
        read = subprocess.run([compiler, "-x", "c++", "-std=c++20", "-trigraphs", "-fpreprocessed", "-dD", "-E", "-P", "-w", file],
                              capture_output=True)
        if read.returncode:
            sys.exit(f"{file}: {read.stderr.decode(errors='replace')}")
        text = re.sub(rb'"(?:\\.|[^"\\\n])*"', b'""', read.stdout)
        text = re.sub(rb'""(?:\s*"")+', b'""', text)
        result[file.name] = number_places(re.sub(rb"0x[0-9a-f]{16}", b"HASH", text)).split()
    return result


def number_places(text):
    """With numbers for the constants that name places, which are letters and digits of names of the graph."""
    numbers, count = {}, itertools.count()

    def number(match):
        if match[1]:  # in its namespace it hides one of this name
            numbers[match[2]] = b"place%d" % next(count)
            return match[1] + numbers[match[2]]
        return numbers.get(match[0], match[0])

    return re.sub(rb"(inline constexpr (?:uint64_t |auto &))(\w+)|\w+", number, text)


# Names with a meaning in the code around places.
TAKEN = ["while", "int", "and", "errno", "NULL", "m", "ctx", "run", "run_0", "at", "braid", "std", "Memory", "Tuple", "uint64_t", "br_status",
         "br_matmul", "launch_rows", "launch_lanes", "gelu_kernel", "gather", "step_train", "train", "identity", "V", "W", "BR_OK", "__x", "1", "_"]


def compile_taken(braidc, compiler, scratch):
    """As names of parameters, an input and a result."""
    for first in range(0, len(TAKEN), 4):
        taken, graph = dict(zip("wbxy", TAKEN[first:first + 4])), GRAPH
        for place in NAMES:
            graph = graph.replace(f"@{place}@", taken.get(place, f"plain{place}"))
        path, folder = scratch / "taken.mlir", scratch / f"taken-{first}"
        path.write_text(graph)
        for command in ([braidc, path, "--emit=dir", "-o", folder],
                        [compiler, "-std=c++20", "-fsyntax-only", f"-I{folder}/runtime", folder / "step.cpp"]):
            made = subprocess.run(command, capture_output=True)
            if made.returncode:
                sys.exit(f"{taken}: {made.stderr.decode(errors='replace')}")


def main():
    braidc, compiler, scratch = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    cases = [{name: b"plain" + name.encode() for name in NAMES}]
    for text in BREAK_OUTS:
        cases.append({name: name.encode() + allowed(text) for name in NAMES})
    for text in BYTES:
        cases.append({name: name.encode() + (allowed(text) if name in FREE else b"") for name in NAMES})
    for options in (["--emit=cpp"], ["--emit=cpp", "--mesh=dp=2", "--zero=3", "--accumulate=2"], ["--emit=cu", "--target=cuda:sm_90"]):
        expected = None
        for number, case in enumerate(cases):
            graph = GRAPH
            for name, text in case.items():
                graph = graph.replace(f"@{name}@", spelled(text))
            folder = scratch / f"{len(options)}-{number}"
            folder.mkdir(parents=True)
            # The path of the graph is hostile, too.
            path = folder.parent / ("graph" + ("" if number == 0 else "\n$(x)\";\\") + ".mlir")
            path.write_text(graph)
            found = tokens(braidc, compiler, folder, path, options)
            expected = expected or found
            for file, words in expected.items():
                if found[file] != words:
                    place = next((i for i, pair in enumerate(zip(words, found[file])) if pair[0] != pair[1]), -1)
                    sys.exit(f"{options}, case {number} {case['loc'][:60]}: {file} reads "
                             f"{found[file][place:place + 12]} instead of {words[place:place + 12]}")
    for text in (b"\x0b", b"\x1b[2J", b"\x7f", b"\xc2\x85"):
        path = scratch / "control.mlir"
        path.write_text(GRAPH.replace("@b@", spelled(text)))
        made = subprocess.run([braidc, path, "--emit=cpp", "-o", scratch / "control"], capture_output=True)
        if made.returncode != 1 or b"a control character in a name" not in made.stderr:
            sys.exit(f"{text} is accepted: {made.stderr.decode(errors='replace')}")
    compile_taken(braidc, compiler, scratch)
    print(f"{len(cases)} sets of names are the same code")


if __name__ == "__main__":
    main()
