"""Run `twinhive gateway` while something asks it."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from sandbox.ports import accepts

_ROOT = Path(__file__).parents[1]


@contextmanager
def running_gateway(
    configuration: Path, port: int, *options: str, others: tuple[int, ...] = (), log: Path | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """Run the gateway of cluster east; yield its process once it listens, at the `others` of clusters.yaml too.

    Raises:
        AssertionError: It ended by itself, or not cleanly when it was told to.
    """
    program = [sys.executable, "-m", "twinhive.surfaces.cli.app", "gateway"]
    command = [*program, "--cluster", "east", "--port", str(port), "--config", str(configuration), *options]
    found = (str(_ROOT / "plugins"), str(_ROOT), *filter(None, [os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(found)}
    with (
        log.open("ab") if log else nullcontext() as lines,
        subprocess.Popen(command, env=environment, stderr=lines) as process,
    ):
        try:
            for one in (port, *others):
                while not accepts(one):
                    if process.poll() is not None:
                        raise AssertionError(f"the gateway has ended with {process.returncode}")
                    time.sleep(0.1)
            yield process
        finally:
            process.terminate()
    if process.returncode:
        raise AssertionError(f"the gateway has ended with {process.returncode}")
