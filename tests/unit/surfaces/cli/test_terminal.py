"""Colour and progress are for terminals; files and pipes get plain lines."""

import io
import os
import pty
import subprocess
import sys
from pathlib import Path

from rich.console import Console

from tests.support.policy_terminal import Terminal
from twinhive.runtime.pipeline.runner import unwatched
from twinhive.surfaces.cli.progress_bar import phase_progress

PLUGINS = Path(__file__).parents[4] / "plugins"
RED = "\x1b[1;31m"


def on_a_terminal(*words: str, **environment: str) -> str:
    """Run a command whose streams are a terminal; return what is seen there."""
    ours, theirs = pty.openpty()
    command = (sys.executable, "-c", "import twinhive.surfaces.cli.app; twinhive.surfaces.cli.app.main()", *words)
    known = {"PYTHONPATH": str(PLUGINS), "TERM": "xterm", **environment}
    with subprocess.Popen(command, stdout=theirs, stderr=theirs, env=known):
        os.close(theirs)
        seen = b""
        # The end of a terminal is an error on Linux.
        try:
            while some := os.read(ours, 4096):
                seen += some
        except OSError:
            pass
        os.close(ours)
    return seen.decode()


def test_a_terminal_has_colour_unless_somebody_does_not_want_it(terminal: Terminal) -> None:
    words = ("check", "nowhere", "--config", str(terminal.policies.directory))
    assert RED in on_a_terminal(*words)
    plain = on_a_terminal(*words, NO_COLOR="1")
    assert "there is no policy nowhere" in plain and "31m" not in plain


def test_batches_have_a_bar_on_a_terminal_which_goes_at_the_end() -> None:
    console = Console(file=io.StringIO(), force_terminal=True, width=100)
    with phase_progress(console, "bootstrap of sales") as watch:
        assert list(watch("copy", ("b1", "b2"))) == ["b1", "b2"]
        for _ in watch("copy", ("b3",)):
            console.print("a line of the step")
    written = console.file.getvalue()  # type: ignore[attr-defined]
    assert "bootstrap of sales" in written and "a line of the step" in written
    assert written.endswith(("\x1b[2K", "\x1b[?25h", "\x1b[1A\x1b[2K"))


def test_anywhere_else_nothing_is_shown() -> None:
    console = Console(file=io.StringIO(), force_terminal=False)
    with phase_progress(console, "bootstrap of sales") as watch:
        assert watch is unwatched
    assert console.file.getvalue() == ""  # type: ignore[attr-defined]


def test_tables_are_not_folded_where_nobody_sees_a_width(terminal: Terminal) -> None:
    name = "a" * 120
    terminal.policies.write("policies/long.yaml", f"policy: {name}\n")
    command = (sys.executable, "-c", "import twinhive.surfaces.cli.app; twinhive.surfaces.cli.app.main()", "policies")
    words = (*command, "--config", str(terminal.policies.directory))
    ended = subprocess.run(words, capture_output=True, text=True, check=True, env={"PYTHONPATH": str(PLUGINS)})
    assert name in ended.stdout
