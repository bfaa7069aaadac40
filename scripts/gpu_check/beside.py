"""Our program beside its peers: rounds by turns, so that clocks and heat are the same for all."""

import statistics

from . import peers, tools


def names():
    return [f"beside_{name}" for name in peers.KINDS]


def measure(program, results, wanted, needed):
    """A result for each peer: of what was measured when a peer fails, or time runs out, the whole rounds count.
    `needed` says how many seconds one takes: those that would not end in time are left for another run."""
    left, together = [], 0
    for peer in peers.of(program):
        check = f"beside_{peer.name}"
        if check not in wanted or results.has(program.entry["name"], check):
            continue
        try:
            tools.commands.budget.check(together + needed(check))
            peer.prepare()
            left.append(peer)
            together += needed(check)
        except tools.Skipped as reason:
            results.skip(program.entry["name"], check, str(reason))
        except (tools.Failed, OSError) as error:
            results.add(program.entry["name"], check, "failed", reason=str(error))
    rounds, ended = {peer.name: [] for peer in left}, {}
    started = list(left)
    try:
        for _ in range(min(program.bench.arguments.rounds, program.entry["rounds"])):
            run_round(program, left, rounds, ended)
    finally:  # whole rounds are kept, also when someone ends all of it
        for peer in started:
            if rounds[peer.name] or peer.name in ended:
                tell(program, peer, rounds[peer.name], ended.get(peer.name), results)


def run_round(program, left, rounds, ended):
    """Ours, then each peer that is left; those that fail leave."""
    try:
        ours = program.rates() if left else []
    except (tools.Failed, tools.Skipped, OSError) as error:
        ended.update({peer.name: error for peer in left})
        left.clear()
    for peer in list(left):
        try:
            rounds[peer.name].append((ours, peer.rates()))
        except (tools.Failed, tools.Skipped, OSError, ValueError) as error:
            ended[peer.name] = error
            left.remove(peer)


def tell(program, peer, rounds, error, results):
    def work():
        if not rounds or error and not isinstance(error, tools.Skipped):
            raise error
        return compare(program, peer, rounds)
    results.attempt(program.entry["name"], f"beside_{peer.name}", work)


def compare(program, peer, rounds):
    """A ratio for each round, and of these the least and the median."""
    ratios = [statistics.median(ours) / statistics.median(theirs) for ours, theirs in rounds]
    figures = {}
    for name, rates in (("braid", [rate for ours, _ in rounds for rate in ours]),
                        (peer.name, [rate for _, theirs in rounds for rate in theirs])):
        figures |= {f"{name}_{key}": value for key, value in program.figures(rates).items()}
    return {"rounds": len(rounds), "braid_batch": program.entry["batch"], f"{peer.name}_batch": peer.batch, **figures,
            "ratio_least": min(ratios), "ratio_median": statistics.median(ratios), "ratios": ratios,
            f"{peer.name}_details": peer.details,
            "headline": {f"speed over {peer.name}, median of rounds": (statistics.median(ratios), None),
                         f"speed over {peer.name}, least": (min(ratios), None),
                         f"{peer.name}: tokens/s": (figures[f"{peer.name}_tokens_per_second_median"], None),
                         f"{peer.name}: MFU": (figures[f"{peer.name}_mfu"], None)}}
