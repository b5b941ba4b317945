"""A bar on a terminal, lines anywhere else."""

import io

import pytest
from rich.console import Console

from twinhive.surfaces.cli.copy_progress import progress_on
from twinhive.transfer.engine import progress as lines


def shown(*, terminal: bool, length: int) -> str:
    console = Console(file=io.StringIO(), force_terminal=terminal, width=100)
    with progress_on(console) as start:
        counting = start(3, length)
        counting.moved(length // 2)
        counting.done(length // 2)
        counting.skipped(length - length // 2)
    written: str = console.file.getvalue()  # type: ignore[attr-defined]
    return written


def test_a_terminal_sees_files_bytes_and_a_bar_that_goes_at_the_end() -> None:
    said = shown(terminal=True, length=10_000)
    assert "2 of 3 files" in said and "10.0/10.0 kB" in said and "━" in said
    assert said.endswith(("\x1b[2K", "\x1b[?25h", "\x1b[1A\x1b[2K"))


def test_empty_files_move_the_bar_too() -> None:
    assert "2/3 bytes" in shown(terminal=True, length=0)


def test_a_log_gets_lines_without_control_characters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "_FIRST_SECONDS", 0.0)
    said = shown(terminal=False, length=10_000)
    assert "of 3 files, " in said and "\x1b" not in said
