"""Give the tests of statements clusters in memory, and a configuration that names them."""

from pathlib import Path

import pytest

from tests.unit.statements.execution.speaker import Speaker


@pytest.fixture
def speaker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Speaker:
    return Speaker(tmp_path / "config", monkeypatch)
