"""How long each check takes, and what of a folder goes into which command of ten minutes.

Seconds are estimates for an H100 or H200 with 16 processors, none of them measured there: what starts
processes and compiles is from machines without a GPU, steps are as long as the cost model predicts
(actions.json).  A run with --budget does not begin what would not end in time; --resume takes it up again.
"""

import json

from . import alone, beside, checks, speed

# The start of a program: CUDA's context, libraries, plans of attention; of PyTorch, and what follows a
# compilation that is cached.
START, TORCH_START, COMPILED_START = 10, 15, 40
# Done once: torch.compile of both directions, llm.c by nvcc, a small program by nvcc, a search of algorithms.
TORCH_COMPILES, LLMC_BUILDS, TOOL_BUILDS, SEARCHES = 90, 100, 12, 25
# nvcc on one processor, of a program that is measured and one that is checked.
MEASURED_BUILDS, CHECKED_BUILDS = 60, 25
# Peers take longer than ours: eager, at least, by this.
SLOWER = {"beside_eager": 2.5}
# Of small programs; those of several ranks wait for each other.
CHECK = {"losses": 6, "gradients": 8, "arena": 1, "cuda_graph": 12, "resumes": 7, "saves": 6, "memcheck": 60, "racecheck": 60,
         "initcheck": 60, "nccl_threads": 15, "nccl_threads_graph": 15, "nccl_processes": 20, "nccl_processes_graph": 20,
         "rank_dies": 70, "nccl_alone": TOOL_BUILDS + 10}
RUN = 5  # of a small program


def step_seconds(folder, entry):
    plan = json.loads((folder / "programs" / entry["name"] / "actions.json").read_text())
    return sum(action.get("predicted_s", 0) for action in plan["programs"]["train"]["actions"])


def needed(folder, entry, check, options):
    """Seconds that a check of a program takes."""
    if check == "determinism":
        return RUN * options.repeats
    if check in CHECK:
        return CHECK[check]
    step, (steps, warm) = step_seconds(folder, entry), speed.STEPS
    ours = START + (steps + warm + 1) * step
    if check == "throughput":
        return ours
    if check == "throughput_searched":
        return ours + SEARCHES
    if check == "kernels":
        return TOOL_BUILDS + START + 12 * step
    if check == "products":
        return 2 * START + SEARCHES + 8 * step
    rounds = min(options.rounds, entry["rounds"])
    first = {"beside_eager": 0, "beside_llm.c": LLMC_BUILDS}.get(check, TORCH_COMPILES)
    start = {"beside_eager": TORCH_START, "beside_llm.c": START}.get(check, COMPILED_START)
    return first + rounds * (start + (steps + warm) * step * SLOWER.get(check, 1.2)) + rounds * ours / len(entry["peers"])


def jobs(folder, manifest, options, wanted, parts):
    """What a run does, in its order: program, check, seconds."""
    ready = [entry for entry in manifest["speed"] if not entry["instead_of"]]
    if "nccl_alone" in wanted:
        yield alone.MACHINE, "nccl_alone", CHECK["nccl_alone"]
    for entry in ready:
        yield entry["name"], "build", MEASURED_BUILDS / options.jobs
    for entry in ready:
        for check in [*entry["measures"], *(name for name in beside.names() if name.removeprefix("beside_") in entry["peers"])]:
            if check in wanted:
                yield entry["name"], check, needed(folder, entry, check, options)
    for entry in manifest["programs"]:
        yield entry["name"], "build", CHECKED_BUILDS / options.jobs
    for part in parts:
        for entry in manifest["programs"]:
            for check in checks.of(entry):
                # On one GPU ranks that want one each are skipped at once.
                if check in wanted and check in part and not check.startswith(("nccl_", "rank_")):
                    yield entry["name"], check, needed(folder, entry, check, options) / options.workers


def slots(all_jobs, length):
    """Each takes what fits, in order; what does not is for the next."""
    left = list(all_jobs)
    while left:
        taken, later, free = [], [], length
        for job in left:
            (taken if job[2] <= free else later).append(job)
            free -= job[2] if job[2] <= free else 0
        if not taken:
            taken, later = later[:1], later[1:]
        yield taken
        left = later


def tell(all_jobs, length, command):
    text = []
    for number, taken in enumerate(slots(all_jobs, length), 1):
        text.append(f"{number}. {command}   # about {sum(seconds for *_, seconds in taken):.0f} s")
        kinds = {}
        for program, check, seconds in taken:
            kinds.setdefault(program if seconds > 10 else "small programs", {}).setdefault(check, []).append(seconds)
        for program, its in kinds.items():
            text.append(f"     {program}: " + ", ".join(f"{check} {sum(seconds):.0f}" for check, seconds in its.items()))
    text.append(f"about {sum(seconds for *_, seconds in all_jobs) / 60:.0f} minutes of machine time, by estimates that no GPU has confirmed")
    return "\n".join(text)
