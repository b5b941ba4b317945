"""Counts of work that are kept in a file, so that no change makes a run dearer without a word.

`tests/unit/counts/*.json` hold them, one file a test module: what is counted, by the run that it is counted in. A count
that grows by more than two per cent fails its test. Whoever raises one on purpose writes the file again in the same
commit, and says why in its message: `TWINHIVE_WRITE_COUNTS=1 python -m pytest tests/unit/counts`. Whoever makes a run
cheaper writes it again too: else what was gained can be lost without a word.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path

WRITE = "TWINHIVE_WRITE_COUNTS"
GROWTH = 0.02
_DIRECTORY = Path(__file__).parents[1] / "unit" / "counts"

Counts = Mapping[str, int]
"""What was counted, by its name: `source metastore table`, `decoded events`."""


def grown(kept_in: str, run: str, counts: Counts, *, growth: float = GROWTH) -> list[str]:
    """Return the counts of a run that are higher than the file allows, one line each, and what to do; [] for none.

    With `TWINHIVE_WRITE_COUNTS` set the file is written instead, and nothing has grown.

    kept_in  name of the file below tests/unit/counts, without its ending
    run      which run they are of
    growth   by which share each may grow
    """
    path = _DIRECTORY / f"{kept_in}.json"
    kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    if os.environ.get(WRITE):
        kept[run] = dict(sorted(counts.items()))
        path.write_text(json.dumps(kept, indent=2, sort_keys=True) + "\n", encoding="utf-8")
        return []
    allowed: dict[str, int] = kept.get(run, {})
    found = [
        f"{run}: {name}: {count:,} found, {allowed.get(name, 0):,} kept in {path.name}"
        for name, count in sorted(counts.items())
        if count > allowed.get(name, 0) * (1 + growth)
    ]
    return [*found, _advice(path)] if found else []


def assert_not_grown(kept_in: str, run: str, counts: Counts) -> None:
    """Raise AssertionError that lists every count of a run that has grown; arguments are those of `grown`."""
    lines = grown(kept_in, run, counts)
    assert not lines, "\n".join(["this run does more than it did:", *lines])


def _advice(path: Path) -> str:
    command = f"{WRITE}=1 python -m pytest tests/unit/{path.parent.name}"
    return f"Find what does more, and mend it. If it has to be so: {command}; commit {path.name} with the reason."
