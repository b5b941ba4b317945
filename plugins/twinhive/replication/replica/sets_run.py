"""Keep which run has changed last what sets a replica shows: `sets/run` in staging.

Whoever tells of sets then reads the marks after such a run, and after no other. It decides nothing.
"""

from contextlib import suppress

from twinhive.core.model.errors import Missing
from twinhive.core.model.files import join
from twinhive.core.model.policy import Policy
from twinhive.core.ports import FileReader, FileWriter


def run_of_sets(files: FileReader, policy: Policy) -> str | None:
    """Return the run, None where none has."""
    with suppress(Missing, UnicodeDecodeError):
        return files.read(_path(policy)).decode()
    return None


def write_run_of_sets(files: FileWriter, policy: Policy, run: str) -> None:
    """Note a run before it changes anything."""
    if run_of_sets(files, policy) != run:
        files.write(_path(policy), run.encode())


def _path(policy: Policy) -> str:
    return join(policy.staging, "sets", "run")
