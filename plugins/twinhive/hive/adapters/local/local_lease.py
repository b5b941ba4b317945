"""Keep a lease as a lock on a file of this machine."""

import fcntl
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from twinhive.core.model.errors import LeaseHeld, Refused
from twinhive.core.model.lease_kinds import LeaseKind

_NAME = "lease"


class LocalLease:
    """Implement LeaseKeeper for directories of this machine (`file:///...`).

    The system ends the lock with its process, so nobody has to be overtaken: who lives keeps it, and a second
    holder is told to try again later.
    """

    @contextmanager
    def hold(self, directory: str, holder: Mapping[str, str], kind: LeaseKind) -> Iterator["HeldLock"]:
        """Take the lease kept in `directory`, for the length of the context.

        Raises LeaseHeld while somebody else has it, whatever the kinds of work.
        """
        with _opened(directory) as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise LeaseHeld(
                    f"{directory}: another run writes here",
                    found=_said(file),
                    expected="nobody else who writes here",
                    next_step="wait until it has ended, then run again",
                ) from None
            file.truncate(0)
            file.write(" ".join(f"{key}={value}" for key, value in holder.items()))
            file.flush()
            yield HeldLock()
            file.truncate(0)

    def is_held(self, directory: str) -> bool:
        """True while a process that lives has the lease."""
        return self.holder(directory) is not None

    def holder(self, directory: str) -> str | None:
        """Say who has the lease, None when nobody lives who has it."""
        if not _path(directory).exists():
            return None
        with _opened(directory) as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                return _said(file)
        return None


class HeldLock:
    """Be a lock that nobody can take away."""

    def confirm(self) -> None:
        """Return at once: the lock is ours while this process lives."""


def _path(directory: str) -> Path:
    return Path(directory.removeprefix("file://"), _NAME)


@contextmanager
def _opened(directory: str) -> Iterator[IO[str]]:
    path = _path(directory)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise Refused(
            f"{path}: a lease cannot be kept there",
            found=error,
            expected="a file that this user may make and write",
            next_step="give this user the right to write there, then run again",
        ) from None
    with os.fdopen(handle, "r+", encoding="utf-8") as file:
        yield file


def _said(file: IO[str]) -> str:
    file.seek(0)
    return file.read() or "a run that does not say who it is"
