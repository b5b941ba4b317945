"""Run many histories of switches in memory, and print what was seen that may not be.

    python -m tests.checker.switches 3000 --first 0     # each with features of its own, drawn by its seed
    python -m tests.checker.switches 60 --each          # each feature alone: which one finds what
    python -m tests.checker.switches 1 --first 17 --features foreign,kills --story

The exit code is 1 when anything was seen. Violations that differ in numbers alone are counted together, each with the
first seed that has it.
"""

import argparse
import os
import re
import sys
import time
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from functools import partial

from tests.checker.switches.features import ALL, Feature, chosen, drawn
from tests.checker.switches.history import Outcome, run_history
from tests.support.seeds import DAY, PER_DAY

_SHOWN = 12


def main(arguments: list[str]) -> int:
    """Run them; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("histories", type=int)
    parser.add_argument("--first", type=int, default=DAY * PER_DAY, help="the first seed; else one of today")
    parser.add_argument(
        "--features", default="drawn", help=f"drawn by the seed, all, none, some, or -some: {', '.join(Feature)}"
    )
    parser.add_argument("--each", action="store_true", help="run so many for each feature alone")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--story", action="store_true", help="tell the steps of each history with violations")
    given = parser.parse_args(arguments)
    if not given.each:
        return _run(given, None if given.features == "drawn" else chosen(given.features.split(",")))
    wrong = 0
    for feature in sorted(ALL):
        print(f"== {feature}", flush=True)
        wrong |= _run(given, chosen([feature]))
    return wrong


def _run(given: argparse.Namespace, features: frozenset[Feature] | None) -> int:
    seeds, began = range(given.first, given.first + given.histories), time.monotonic()
    one = partial(_one, features)
    if given.processes > 1 and given.histories > 1:
        with ProcessPoolExecutor(given.processes) as pool:
            return _tell(pool.map(one, seeds, chunksize=4), began, stories=given.story)
    return _tell(map(one, seeds), began, stories=given.story)


def _one(features: frozenset[Feature] | None, seed: int) -> Outcome:
    return run_history(seed, drawn(seed) if features is None else features)


def _tell(outcomes: Iterable[Outcome], began: float, *, stories: bool) -> int:
    """Say what is seen for the first time at once, so that a run that is ended has said it; then the sums."""
    seen: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    histories = wrong = 0
    for outcome in outcomes:
        histories += 1
        wrong += bool(outcome.violations)
        counts.update(outcome.counts)
        shapes = {f"{one.kind}: {_shape(one.what)}" for one in outcome.violations}
        for shape in sorted(shapes - seen.keys()):
            print(f"seed {outcome.seed}: {shape}", flush=True)
        seen.update(shapes)
        if outcome.violations and stories:
            print(outcome.story(), flush=True)
    for shape, count in seen.most_common(_SHOWN):
        print(f"{count:5} histories: {shape}")
    said = ", ".join(f"{count} {what}" for what, count in sorted(counts.items()))
    seconds = time.monotonic() - began
    print(f"total: {histories} histories, {wrong} with violations, {seconds:.0f} s; {said}", flush=True)
    return int(wrong > 0)


def _shape(what: str) -> str:
    """Return what is said, without what differs from history to history."""
    named = re.sub(r"\b(east|west)\b", "SIDE", " ".join(what.split()))
    return re.sub(r"[0-9a-f]{8,}|\d+", "N", named)[:200]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
