"""How near each kernel and library call of a step comes to what the GPU can do.

Bytes of an action are those of the operands that it names in the memory form, each read
or written once; the times are those of the binary's --profile.
"""

import json
import pathlib
import shutil
import sys

from . import tools

HERE = pathlib.Path(__file__).resolve().parent


def list_actions(memory_form_text, reader_folder):
    """What each action of each program moves, in their order: written beside the sources."""
    sys.path.insert(0, str(reader_folder))
    import memory_form  # noqa: E402  (of the tests; shares nothing with the compiler)
    programs, _ = memory_form.read(memory_form_text)
    length = lambda ranges: sum(end - begin for begin, end in ranges)
    return {program.name: [{"kind": action.kind, "bytes": length(action.ins) + length(action.outs)}
                           for action in program.actions] for program in programs}


def copy_rate(scratch):
    """Bytes a second, best and median; None where nvcc is missing."""
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    if not pathlib.Path(nvcc).exists():
        return None
    tools.run([nvcc, "-std=c++20", "-O3", "-arch=native", HERE / "copy_rate.cu", "-o", scratch / "copy_rate"])
    return [float(word) for word in tools.run([scratch / "copy_rate"]).split()]


def measure(entry, binary, scratch, train):
    """The rate of generated kernels together, and of the slowest ones, as shares of a copy's."""
    rate = copy_rate(scratch)
    actions = entry.get("actions", {}).get("train")
    if not rate or not actions:
        return None
    profile = scratch / f"{entry['name']}-profile.json"
    tools.run([*train, "--steps", 12, f"--profile={profile}"], timeout=1800)
    measured = next(program for program in json.loads(profile.read_text())["programs"] if program["program"] == "train")["actions"]
    if len(measured) != len(actions):
        raise tools.Failed(f"{len(measured)} actions were measured, the plan has {len(actions)}")
    kernels = [(action["bytes"], its["seconds"], its["name"]) for action, its in zip(actions, measured)
               if action["kind"] == "exec.launch" and its["seconds"] > 0]
    share = lambda bytes, seconds: bytes / seconds / rate[1]
    slowest = sorted((share(b, s), s, name) for b, s, name in kernels if s > 20e-6)[:10]
    return {"copy_bytes_per_second_best": rate[0], "copy_bytes_per_second_median": rate[1],
            "kernels_share_of_copy": share(sum(b for b, _, _ in kernels), sum(s for _, s, _ in kernels)),
            "kernel_seconds": sum(s for _, s, _ in kernels), "step_seconds": sum(its["seconds"] for its in measured),
            "slowest_kernels": [{"share_of_copy": a, "seconds": s, "action": name} for a, s, name in slowest]}
