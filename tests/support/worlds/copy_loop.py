"""Bring copies up to date again and again until killed, as a process of its own: `copying.py CONFIG PLACEMENT`."""

import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from random import Random

from twinhive.core.model.errors import TwinhiveError
from twinhive.runtime.pipeline.phases import COPIES
from twinhive.runtime.pipeline.runner import run_phase
from twinhive.runtime.settings import load_configuration, resolve_from_environment
from twinhive.runtime.wiring.policy_wiring import Wiring

_ROOT = Path(__file__).parents[3]
_READY = "ready"
_LONGEST = 9.0
"""Seconds of the first process: it waits for the lease of the last one, then makes some runs, cut off anywhere."""


def copy_in_processes(going_on: threading.Event, config: Path, placement: str, seed: int) -> int:
    """Let processes copy, each until it is killed by SIGKILL; return how many were."""
    chance, killed = Random(seed), 0
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(_ROOT), str(_ROOT / "plugins")])}
    command = [sys.executable, "-m", __name__, str(config), placement]
    while going_on.is_set():
        with subprocess.Popen(command, env=environment, text=True, stdout=subprocess.PIPE, cwd=_ROOT) as process:
            assert process.stdout is not None
            assert process.stdout.readline().strip() == _READY, "it does not start"
            # The next ones live longer: on a slow machine none would get anywhere else.
            _wait(going_on, chance.uniform(0.1, _LONGEST * (1 + killed / 4)))
            process.send_signal(signal.SIGKILL)
            assert process.wait() == -signal.SIGKILL
            killed += 1
    return killed


def _wait(going_on: threading.Event, seconds: float) -> None:
    ended = threading.Event()
    while seconds > 0 and going_on.is_set():
        ended.wait(min(0.2, seconds))
        seconds -= 0.2


def main(config: str, placement: str) -> None:
    """Copy for ever."""
    wiring = Wiring.of(load_configuration(Path(config)), placement, resolve_from_environment)
    ports = wiring.write_ports()
    print(_READY, flush=True)
    while True:
        # Who was killed a moment ago may hold the lease still: this run takes it over, or the next.
        with suppress(TwinhiveError):
            run_phase(COPIES, wiring.policy, ports, {"run": f"process {os.getpid()}"}, lambda line: None)


if __name__ == "__main__":
    main(*sys.argv[1:])
