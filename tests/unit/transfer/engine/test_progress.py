from itertools import pairwise

import pytest

from twinhive.core.model.human_readable import readable
from twinhive.transfer.engine.progress import CopyProgress


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_lines_come_ever_less_often() -> None:
    clock, lines = Clock(), []
    progress = CopyProgress(1000, 1000, lambda line: lines.append(clock.now), clock)
    for second in range(1, 61):
        clock.now = float(second)
        progress.done(1)
    gaps = [later - earlier for earlier, later in pairwise(lines)]
    assert lines[0] == 5
    assert gaps == sorted(gaps) and len(lines) == 4


def test_a_line_says_how_far_and_how_long() -> None:
    clock, lines = Clock(), list[str]()
    progress = CopyProgress(3000, 4_000_000_000, lines.append, clock)
    clock.now = 10.0
    progress.done(1_000_000_000)
    assert lines == ["1 of 3,000 files, 1.0 GB of 4.0 GB (25%), 100 MB/s, about 60 s left"], "files take time as well"


def test_a_large_file_moves_before_it_is_done() -> None:
    clock, lines = Clock(), list[str]()
    progress = CopyProgress(2, 4_000_000_000, lines.append, clock)
    clock.now = 10.0
    progress.moved(1_000_000_000)
    assert lines == ["0 of 2 files, 1.0 GB of 4.0 GB (25%), 100 MB/s, about 30 s left"]
    progress.moved(1_000_000_000)
    progress.done(2_000_000_000)
    clock.now = 20.0
    progress.skipped(0)
    assert lines[1:] == ["2 of 2 files, 2.0 GB of 4.0 GB (50%), 100 MB/s, about 20 s left"]


def test_a_file_that_is_copied_twice_is_not_more_than_all() -> None:
    clock, lines = Clock(), list[str]()
    progress = CopyProgress(1, 4_000_000_000, lines.append, clock)
    progress.moved(4_000_000_000)
    clock.now = 10.0
    progress.moved(900)
    assert lines == ["0 of 1 files, 4.0 GB of 4.0 GB (100%), 400 MB/s, about 0 s left"]


def test_the_last_large_file_does_not_promise_years_for_small_ones() -> None:
    clock, lines = Clock(), list[str]()
    progress = CopyProgress(201, 1_000_001_000, lines.append, clock)
    for _ in range(100):
        progress.done(5)
    clock.now = 10.0
    progress.done(5)
    assert lines == ["101 of 201 files, 505 B of 1.0 GB (0%), 50 B/s, about 2 min left"]


def test_empty_files_only() -> None:
    clock, lines = Clock(), list[str]()
    progress = CopyProgress(4, 0, lines.append, clock)
    clock.now = 100.0
    progress.done(0)
    assert lines == ["1 of 4 files, 0 B of 0 B (25%), 0 B/s, about 5 min left"]


@pytest.mark.parametrize(
    ("length", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (123_456, "123 kB"), (5e12, "5.0 TB"), (3e18, "3000 PB")],
)
def test_readable(length: float, text: str) -> None:
    assert readable(length) == text
