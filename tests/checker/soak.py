"""Run many random histories between the two real clusters: `make soak SEEDS=200`.

One line for each history, then the sums. The exit code is 1 when anything was seen that may not be; the
story of such a history is written into the working directory, and a line says why it stopped: USERS BROKE A RULE, where
tables of the source share a directory, which is a fault of the history's. A second argument is the first seed.
"""

import os
import sys
import tempfile
import time
import traceback
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from pathlib import Path

from sandbox import Sandbox
from tests.checker.clusters import SMALL, ClusterDrill, Clusters
from tests.checker.memory_histories import Settings
from tests.checker.occupied_directories import Places
from tests.support.policies import PolicyFiles
from twinhive.core.model.errors import TwinhiveError


@dataclass
class Sums:
    """What histories have come to."""

    histories: int = 0
    events: int = 0
    runs: int = 0
    kills: int = 0
    faults: int = 0
    states: int = 0
    polls: int = 0
    violations: int = 0
    failures: int = 0

    def __str__(self) -> str:
        return ", ".join(f"{getattr(self, field.name)} {field.name}" for field in fields(self))

    def __add__(self, other: "Sums") -> "Sums":
        return Sums(*(getattr(self, field.name) + getattr(other, field.name) for field in fields(self)))


def settings_of(seed: int) -> Settings:
    """Return what a history is made of: every other one does what few users do, with scans and sweeps beside.

    Sets are marked where nothing gets another location."""
    moves = seed % 4 == 3
    return replace(SMALL, odd=seed % 4 == 1, crosses=seed % 4 == 2, moves=moves, scans=25 * (seed % 2), marks=not moves)


def one_history(box: Sandbox, seed: int, *, servers: bool, directory: Path) -> tuple[Sums, str]:
    """Run one history; return what it came to, and its story when it went wrong."""
    place = Clusters(box, PolicyFiles(directory))
    drill = ClusterDrill(seed, place, settings_of(seed), servers=servers)
    story = ""
    try:
        drill.run()
        drill.assert_end()
    except Exception as error:
        story = drill.story(f"{reason(place, error)}\n{''.join(traceback.format_exception(error))}")
    finally:
        place.close(keep=bool(story))
    return Sums(
        histories=1,
        events=len(drill.crowd.recorder.timeline.moments),
        runs=drill.runs,
        kills=drill.kills,
        faults=drill.faults,
        states=drill.judge.compared,
        polls=drill.polls,
        violations=len(drill.violations),
        failures=int(bool(story)),
    ), story


def reason(place: Clusters, error: Exception) -> str:
    """Say in one line why a history has stopped, and whether its users have done what the rules forbid them."""
    shared: list[str] = []
    with suppress(TwinhiveError):  # a server may be down
        shared = Places.of(place.source, place.database).shared()
    said = " ".join(str(error).split())[:300]
    return f"{f'USERS BROKE A RULE: {shared}; ' if shared else ''}{type(error).__name__}: {said}"


def main(histories: int, first: int) -> int:
    """Run them all; return the exit code."""
    box = Sandbox.open(os.environ.get("TWINHIVE_SANDBOX", "soak"))
    box.up()
    os.environ.update(box.environment())
    total = Sums()
    for seed in range(first, first + histories):
        started = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="twinhive-soak-") as directory:
            # Restarting a server takes longer than the rest of a history.
            sums, story = one_history(box, seed, servers=seed % 4 == 0, directory=Path(directory) / "config")
        total += sums
        print(f"seed {seed}: {time.monotonic() - started:.1f} s, {sums}", flush=True)
        if story:
            path = Path(f"soak-{seed}.txt")
            path.write_text(story, encoding="utf-8")
            print(f"  went wrong, see {path}: {story.splitlines()[0]}", flush=True)
    if not os.environ.get("TWINHIVE_KEEP"):
        box.down()
    print(f"total: {total}", flush=True)
    return int(bool(total.violations or total.failures))


if __name__ == "__main__":
    code = main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0)
    # Java in this process takes its time to end.
    os._exit(code)
