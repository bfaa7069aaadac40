"""Finds the assistant's words in the text of a conversation."""

import os

from .guarded import Failure

PROBES = ("Ab", "Cd")  # contents of which any two differ at both ends


def common_start(*texts):
    return len(os.path.commonprefix(texts))


def common_end(*texts):
    return len(os.path.commonprefix([text[::-1] for text in texts]))


def found_by_probes(messages, number, whole, render, low, eos):
    """Finds the range of a message in the text of a whole conversation. Replaces the content of the message to see
    where it stands. The prompt and the end of the turn surround it, as when the message is the last."""
    earlier, probes = messages[:number], [{"role": "assistant", "content": each} for each in PROBES]
    probed = [render([*earlier, each, *messages[number + 1:]]) for each in probes]
    start, end = common_start(whole, *probed), len(whole) - common_end(whole, *probed)
    closing = [render([*earlier, each]) for each in probes]
    closing = closing[0][len(closing[0]) - common_end(*closing):]
    if not whole.startswith(closing, end):
        closing = closing.removesuffix(eos)  # which ends the last turn alone
    if number > 0:
        before, asked = render(earlier), render(earlier, True)
        prompt = asked[len(before):] if asked.startswith(before) else ""
        at = whole.rfind(prompt, low, start) if prompt else -1
        start = at + len(prompt) if at >= 0 else start
    return start, end + common_start(closing, whole[end:])


def ranges(messages, whole, render, place, eos=""):
    """Returns the ranges of characters that the assistant says, up to the end of its turn."""
    found, low = [], 0
    for number, message in enumerate(messages):
        if message["role"] != "assistant":
            continue
        asked = render(messages[:number], True) if number > 0 else None
        answered = render(messages[:number + 1]) if number + 1 < len(messages) else whole
        if asked and whole.startswith(answered) and answered.startswith(asked) and len(asked) >= low:
            start, end = len(asked), len(answered)
        else:
            start, end = found_by_probes(messages, number, whole, render, low, eos)
        if not low <= start <= end:
            raise Failure(f"{place}: the chat template writes message {number + 1} in another way when more follows, so "
                          "what counts as a target cannot be told; give a --chat-template with {% generation %} blocks")
        found.append((start, end))
        low = end
    return found


def inside(offsets, ranges):
    """Returns for each token whether some of its characters are in a range."""
    counts, ranges, at = [], [*ranges, (float("inf"), float("inf"))], 0
    for start, end in offsets:
        while ranges[at][1] <= start:
            at += 1
        counts.append(end > ranges[at][0])
    return counts
