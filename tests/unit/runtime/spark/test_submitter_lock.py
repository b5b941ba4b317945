"""A job ends when its submitter does, even if that was killed."""

import subprocess
import sys
import threading
from pathlib import Path

from twinhive.runtime.spark.submitter_lock import held, when_let_go

_SUBMITTER = """
import sys
from pathlib import Path
from twinhive.runtime.spark.submitter_lock import held
with held(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_killed_submitter_lets_go(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.touch()
    let_go = threading.Event()
    command = [sys.executable, "-c", _SUBMITTER, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as submitter:
        assert submitter.stdout and submitter.stdout.readline() == "held\n"
        when_let_go(path, let_go.set)
        assert not let_go.wait(0.05)
        submitter.kill()
    assert let_go.wait(10)


def test_a_submitter_that_has_gone_on_lets_go(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.touch()
    let_go = threading.Event()
    with held(path):
        when_let_go(path, let_go.set)
        assert not let_go.is_set()
    assert let_go.wait(10)
