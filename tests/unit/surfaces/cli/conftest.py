"""A terminal, before and after the bootstrap of its policy."""

from pathlib import Path

import pytest

from tests.support.policy_terminal import Terminal, a_terminal


@pytest.fixture
def terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    return a_terminal(tmp_path, monkeypatch)


@pytest.fixture
def published(terminal: Terminal) -> Terminal:
    terminal.type("run", "sales", "bootstrap")
    return terminal
