"""Compares the matmuls of a step with cuBLASLt's fastest algorithms.

A run with --matmul-search times, for each matmul, the algorithm that the library's heuristic puts first, with which
programs run by default, and others that it offers, by turns; --profile writes these times, and which actions run which
matmul. A share is the time of the fastest algorithm divided by the time of the first; 1 means that the heuristic is
right.
"""

TARGET = 0.97


def actions_of(profile):
    return next(program for program in profile["programs"] if program["program"] == "train")["actions"]


def compare(matmul, runs):
    """The first algorithm beside the best, by least and by median times; `runs` is how often a step runs it."""
    first, *_ = candidates = matmul["candidates"]
    best = lambda key: min((its for its in candidates if its[key] is not None), key=lambda its: its[key])
    share = lambda key: best(key)[key] / first[key]
    return {"product": matmul["name"], "calls": runs * matmul["calls"],
            "share_least": share("seconds"), "share_median": share("median_seconds"),
            "first_seconds": first["seconds"], "best_seconds": best("seconds")["seconds"],
            "first_median_seconds": first["median_seconds"],
            "best_median_seconds": best("median_seconds")["median_seconds"],
            "first": first["algorithm"], "best": best("seconds")["algorithm"]}


def together(matmuls, best, first):
    """Returns the share over all calls of a step, in which matmuls are weighted by their time."""
    total = lambda key: sum(its["calls"] * its[key] for its in matmuls)
    return total(best) / total(first)


def figures(profile):
    """Reads a profile with a search. Returns None if the step runs no matmul."""
    actions = actions_of(profile)
    runs = {}
    for action in actions:
        if "product" in action:
            runs[action["product"]] = runs.get(action["product"], 0) + 1
    used = [its for its in profile["products"] if its["product"] in runs]
    # There was no room to time it, or the first algorithm fails; such programs need a search to run.
    timed = [its for its in used if its["candidates"] and its["candidates"][0]["seconds"]]
    if not timed:
        return None
    matmuls = [compare(its, runs[its["product"]]) for its in timed]
    matmuls.sort(key=lambda its: its["calls"] * (its["best_seconds"] - its["first_seconds"]))
    return {"share_of_best_least": together(matmuls, "best_seconds", "first_seconds"),
            "share_of_best_median": together(matmuls, "best_median_seconds", "first_median_seconds"),
            "products": len(matmuls), "below_target": sum(its["share_least"] < TARGET for its in matmuls),
            "not_timed": len(used) - len(timed), "step_products": matmuls}
