"""Run a command of the operator's own, which keeps writers away or lets them in again."""

import os
import subprocess
from collections.abc import Callable, Mapping, Sequence

from twinhive.core.model.errors import ActNow, TryAgain, TwinhiveError

SECONDS = 600.0
PASSING = 75
"""How a command says that it may succeed later (EX_TEMPFAIL)."""
_TOLD = 500
RunCommand = Callable[[Sequence[str], Mapping[str, str]], None]


def run_command(words: Sequence[str], environment: Mapping[str, str]) -> None:
    """Run it without a shell, with more variables, and wait at most ten minutes. Raises ActNow, TryAgain."""
    what, expected = f"the command {words[0]} of failover.fence failed", "it to end within 10 minutes, with 0"
    next_step = "mend what it says, then run this again; it is run again as a whole"
    try:
        done = subprocess.run(
            list(words),
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=SECONDS,
            check=False,
        )
    except OSError as error:
        expected = "a command on the machine of the task"
        raise ActNow(what, found=str(error), expected=expected, next_step=next_step) from error
    except subprocess.TimeoutExpired:
        raise ActNow(what, found=f"no end after {SECONDS:.0f} s", expected=expected, next_step=next_step) from None
    if done.returncode:
        told = " ".join(done.stdout.decode(errors="replace").split())[-_TOLD:]
        kind: type[TwinhiveError] = TryAgain if done.returncode == PASSING else ActNow
        found = f"{done.returncode}: {told or '(it said nothing)'}"
        raise kind(what, found=found, expected=expected, next_step=next_step)
