"""Let a Spark job say by its exit code and its last words how it ended, and let its submitter read them."""

import os
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import NoReturn

from twinhive.core.model.errors import ActNow, TryAgain, TwinhiveError, may_pass
from twinhive.core.model.exit_codes import ExitCode, Unusable
from twinhive.core.model.text import Text


def ended(job: str, run: Callable[[], int]) -> int:
    """Run a job and return its exit code; why it could not be carried out is printed."""
    try:
        return run()
    except Unusable as error:
        print(f"{job} cannot run: {error}", file=sys.stderr)
        return ExitCode.UNUSABLE
    except TwinhiveError as error:
        print(f"{job} failed: {error}", file=sys.stderr)
        return ExitCode.TRY_AGAIN if may_pass(error) else ExitCode.ACT_NOW


def leave(job: str, run: Callable[[Path], int]) -> NoReturn:
    """Run a job with a file of settings, the last word of its call, and end this process with its exit code."""
    code = ended(job, lambda: run(Path(sys.argv[-1])))
    sys.stdout.flush()
    sys.stderr.flush()
    # Two Java machines may be attached to this process; what they do when Python ends must not change the code.
    os._exit(code)


def teller(job: str) -> Callable[[str], None]:
    """Return what writes a line to the submitter, who passes on what begins with the job's name."""
    return lambda line: print(f"{job}: {line}", file=sys.stderr, flush=True)


def result_beside(settings: Path) -> Path:
    """Return where a job writes what its submitter is to read, if there is anything."""
    return settings.with_name("result.json")


def last_words(output: str, job: str) -> str:
    """Return what a job itself said last, out of spark-submit's output: its line and the indented ones after it."""
    lines = output.splitlines()
    starts = [number for number, line in enumerate(lines) if line.startswith(job)]
    if not starts:
        return ""
    first, *rest = lines[starts[-1] :]
    named = takewhile(lambda line: line.startswith("  "), rest)
    return "; ".join([first, *(line.strip() for line in named)])


def causes(text: str) -> str:
    """Return the innermost messages of a Spark error, which is mostly Java's trace."""
    found = re.findall(r"^(?:Caused by: )?([\w.$]+(?:Error|Exception): .+)$", text, re.MULTILINE)
    return "; ".join(dict.fromkeys(found[-2:])) or text.partition("\n")[0]


class NotAllCopied(ActNow):
    """The job has run, and some files cannot be copied before a person has acted."""


@dataclass(frozen=True)
class NextSteps:
    """What a person can do where the job was submitted, by how it ended."""

    act_now: Text
    unusable: str
    try_again: str
    failed: str = "some files cannot be copied"
    """What has happened, and what was expected instead, where a person must act."""
    expected: str = "files that can be read, and equal their listing"


def explain(label: str, code: int | None, words: str, otherwise: str, steps: NextSteps) -> TwinhiveError:
    """Return what an exit code means; `words` are the job's own, `otherwise` is said when there are none."""
    if code == ExitCode.ACT_NOW:
        found = words or "the lines above say it"
        return NotAllCopied(
            f"{label}: {steps.failed}",
            found=found,
            expected=steps.expected,
            next_step=steps.act_now,
        )
    if code == ExitCode.UNUSABLE:
        found = words or "the lines above say it"
        return ActNow(
            f"{label}: Spark cannot run the copy job",
            found=found,
            expected="executors with Java 17 or newer, and Python of the driver's version",
            next_step=steps.unusable,
        )
    return TryAgain(
        f"{label}: the Spark job did not finish",
        found=words or otherwise,
        expected="a job that runs to its end",
        next_step=steps.try_again,
    )
