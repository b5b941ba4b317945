"""Keep a policy's lease as a file on HDFS that its holder has open for writing.

HDFS lets one client write a file, and its `recoverLease` closes a file under a writer, whose next
flush then fails. So a new holder first closes the file of the one before, then waits until no call
of theirs can be under way any more, and only then opens a file of its own with the next number.
"""

import json
import os
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from twinhive.adapters.hadoop_client import HadoopClient
from twinhive.adapters.hadoop_errors import translated
from twinhive.adapters.jvm import java_class
from twinhive.domain.errors import ActNow, AlreadyThere, LeaseLost, TwinhiveError, Unreachable
from twinhive.domain.files import join

_NAME = re.compile(r"lease-(\d{10})")
_RELEASED = b"released\n"
_KEPT = 2
_PAUSE_SECONDS = 0.2
_CLIENT_SETTINGS = {
    # A file whose only DataNode is lost is a lost lease, not one to go on with elsewhere.
    "dfs.client.block.write.replace-datanode-on-failure.policy": "NEVER",
}


@dataclass(frozen=True)
class HdfsLease:
    """Implement LeaseKeeper on one HDFS.

    `settle_seconds` is how long a call that the previous holder began may still take effect: the
    time-out of one metastore call. It is waited for unless that holder has released the lease.
    """

    root: str
    properties: Mapping[str, str]
    user: str | None
    settle_seconds: float
    recovery_seconds: float = 60.0
    sleep: Callable[[float], None] = time.sleep

    @contextmanager
    def hold(self, directory: str, holder: Mapping[str, str], *, overtake: bool = True) -> Iterator["HeldLease"]:
        """Take the lease kept in `directory`, from whoever has it, for the length of the context.

        Without `overtake` it raises Unreachable while `is_held`; who takes it at the same time makes it LeaseLost.
        After an error that leaves a call's end unknown, the lease is left but not released: that call
        may still take effect, and the next holder has to wait for it.
        """
        client = HadoopClient(self.root, self.properties, self.user, _CLIENT_SETTINGS)
        epochs = _Epochs(client, directory)
        try:
            lease = self._take(epochs, holder, overtake=overtake)
            try:
                yield lease
            except ActNow:
                # A refusal is an answer: nothing of ours is under way any more. Met by one who has lost the
                # lease, it only shows what the new holder does, and the loss is what is told.
                lease.release()
                raise
            except BaseException:
                lease.leave()
                raise
            lease.release()
        finally:
            with suppress(TwinhiveError):
                client.close()

    def holder(self, directory: str) -> str | None:
        """Say who has not released the lease (alive or killed), None when nobody holds it."""
        client = HadoopClient(self.root, self.properties, self.user, _CLIENT_SETTINGS)
        try:
            epochs = _Epochs(client, directory)
            newest = epochs.newest()
            return epochs.holder_of(newest) if newest and not epochs.is_released(newest) else None
        finally:
            with suppress(TwinhiveError):
                client.close()

    def is_held(self, directory: str) -> bool:
        """True while a process that may live holds the lease.

        The NameNode closes the file of a killed one by itself (`dfs.namenode.lease-hard-limit-sec`, 20 minutes).
        """
        client = HadoopClient(self.root, self.properties, self.user, _CLIENT_SETTINGS)
        try:
            epochs = _Epochs(client, directory)
            newest = epochs.newest()
            return bool(newest) and not epochs.is_closed(newest)
        finally:
            with suppress(TwinhiveError):
                client.close()

    def _take(self, epochs: "_Epochs", holder: Mapping[str, str], *, overtake: bool) -> "HeldLease":
        newest = epochs.newest()
        if newest and not overtake and not epochs.is_closed(newest):
            raise Unreachable(
                f"{epochs.path(newest)}: somebody who may live holds this lease",
                found=epochs.holder_of(newest),
                next_step="wait until it has ended",
            )
        if newest and not epochs.is_released(newest):
            self._close(epochs, newest)
            self.sleep(self.settle_seconds)
        lease = HeldLease(epochs, newest + 1, epochs.create(newest + 1))
        lease.write(_holder_line(holder, newest + 1))
        # Someone slower than two take-overs could have created a number that was deleted again.
        if epochs.newest() != newest + 1:
            lease.leave()
            raise epochs.lost(newest + 1)
        epochs.delete_older_than(newest + 2 - _KEPT)
        return lease

    def _close(self, epochs: "_Epochs", epoch: int) -> None:
        """Close the file under its writer, who cannot flush any more from then on."""
        waited = 0.0
        while not epochs.recover(epoch):
            if waited >= self.recovery_seconds:
                raise Unreachable(
                    f"{epochs.path(epoch)}: the lease of its last holder could not be ended",
                    found=f"the file is still open after {self.recovery_seconds:.0f} s",
                    next_step="check the DataNodes that hold its block (hdfs fsck -files -blocks -locations)",
                )
            self.sleep(_PAUSE_SECONDS)
            waited += _PAUSE_SECONDS


class HeldLease:
    """Be the open file of one holder."""

    def __init__(self, epochs: "_Epochs", epoch: int, stream: Any) -> None:
        self.epoch = epoch
        self._epochs = epochs
        self._stream = stream
        self._lock = threading.Lock()

    def confirm(self) -> None:
        """Prove that the lease is still ours; raises LeaseLost."""
        self.write(b".")

    def write(self, content: bytes) -> None:
        """Write and flush to the DataNode; without content a flush could be no call at all."""
        with self._lock:
            try:
                self._stream.write(content)
                self._stream.hflush()
            except java_class("java.io.IOException"):
                raise self._epochs.lost(self.epoch) from None

    def release(self) -> None:
        """Tell the next holder that nothing of ours is under way."""
        self.write(b"\n" + _RELEASED)
        self.leave()

    def leave(self) -> None:
        """Close the file without a word."""
        with suppress(java_class("java.io.IOException")):
            self._stream.close()


class _Epochs:
    """Read and write the numbered files of one lease."""

    def __init__(self, client: HadoopClient, directory: str) -> None:
        self._client = client
        self._directory = directory

    def path(self, epoch: int) -> str:
        """Return the path of one holder's file."""
        return join(self._directory, f"lease-{epoch:010d}")

    def newest(self) -> int:
        """Return the highest number there is, 0 without any."""
        return max(self._all(), default=0)

    def is_released(self, epoch: int) -> bool:
        """True when the file is closed and its holder said so."""
        with self._translated(epoch):
            return self.is_closed(epoch) and self._read(epoch).endswith(_RELEASED)

    def is_closed(self, epoch: int) -> bool:
        """True when nobody writes the file any more."""
        with self._translated(epoch):
            return bool(self._java.isFileClosed(self._java_path(epoch)))

    def recover(self, epoch: int) -> bool:
        """Begin to close a file under its writer; True when it is closed."""
        with self._translated(epoch):
            return bool(self._java.recoverLease(self._java_path(epoch)))

    def create(self, epoch: int) -> Any:
        """Open a new file for writing; raises LeaseLost when someone else has it."""
        try:
            with self._translated(epoch):
                return self._java.create(self._java_path(epoch), False)
        except AlreadyThere:
            raise self.lost(epoch - 1) from None

    def delete_older_than(self, epoch: int) -> None:
        """Delete the files that can play no part any more."""
        for older in self._all():
            if older < epoch:
                with self._translated(older):
                    self._java.delete(self._java_path(older), False)

    def lost(self, epoch: int) -> LeaseLost:
        """Return the error of a lease that is lost, with the name of who has it now."""
        return LeaseLost(
            f"{self._directory}: the lease is not ours any more",
            found=self._successor(epoch),
            expected=f"number {epoch} to be the newest",
            next_step="nothing, if the new holder is another try of this task; otherwise see what it does",
        )

    def holder_of(self, epoch: int) -> str:
        """Return what a holder wrote of itself."""
        with self._translated(epoch):
            return self._read(epoch).decode(errors="replace").partition("\n")[0]

    def _successor(self, epoch: int) -> str:
        try:
            newest = self.newest()
            if newest <= epoch:
                return "nobody has taken over; the file could not be written (DataNode lost, or about to be taken over)"
            return f"number {newest}, held by {self.holder_of(newest)}"
        except TwinhiveError as error:
            return f"the new holder is not known: {error.what}"

    def _all(self) -> list[int]:
        with translated(self._client.root, self._directory):
            try:
                statuses = self._java.listStatus(self._client.to_java(self._directory))
            except java_class("java.io.FileNotFoundException"):
                return []
            matches = (_NAME.fullmatch(str(status.getPath().getName())) for status in statuses)
            return [int(match[1]) for match in matches if match]

    def _read(self, epoch: int) -> bytes:
        stream = self._java.open(self._java_path(epoch))
        try:
            return bytes(stream.readAllBytes())
        finally:
            stream.close()

    def _translated(self, epoch: int) -> Any:
        return translated(self._client.root, self.path(epoch))

    @property
    def _java(self) -> Any:
        return self._client.java

    def _java_path(self, epoch: int) -> Any:
        return self._client.to_java(self.path(epoch))


def _holder_line(holder: Mapping[str, str], epoch: int) -> bytes:
    facts = {**holder, "epoch": epoch, "host": socket.gethostname(), "pid": os.getpid()}
    return (json.dumps(facts) + "\n").encode()
