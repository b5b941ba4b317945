"""Keep a policy's lease as a file on HDFS that its holder has open for writing.

HDFS lets one client write a file, and its `recoverLease` closes a file under a writer, whose next
flush then fails. So a new holder first closes the file of the one before, then waits until no call
of theirs can be under way any more, and only then opens a file of its own with the next number.
Who may do that to whom is decided by the kinds of work (`core/model/lease_kinds.py`); the file says its own.
"""

import json
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from twinhive.core.model.errors import AlreadyThere, TwinhiveError, Unreachable, ends_unknown
from twinhive.core.model.lease_kinds import LeaseKind, Manner, manner_of
from twinhive.hive.adapters.hdfs.hadoop_client import HadoopClient
from twinhive.hive.adapters.hdfs.hdfs_lease_files import RELEASED, LeaseFiles
from twinhive.hive.adapters.jvm.java_vm import java_class

_KEPT = 2
_PAUSE_SECONDS = 0.2
_PATIENCE_SECONDS = 30.0
_TRIES_TO_READ = 10
_CLIENT_SETTINGS = {
    # A file whose only DataNode is lost is a lost lease, not one to go on with elsewhere.
    "dfs.client.block.write.replace-datanode-on-failure.policy": "NEVER",
}


@dataclass(frozen=True)
class HdfsLease:
    """Implement LeaseKeeper on one HDFS.

    settle_seconds    how long a call that the previous holder began may still take effect: the time-out of one
                      metastore call. It is waited for unless that holder has released the lease
    patience_seconds  how long one is waited for that is not to be overtaken, or not at once
    """

    root: str
    properties: Mapping[str, str]
    user: str | None
    settle_seconds: float
    recovery_seconds: float = 60.0
    patience_seconds: float = _PATIENCE_SECONDS
    sleep: Callable[[float], None] = time.sleep

    @contextmanager
    def hold(self, directory: str, holder: Mapping[str, str], kind: LeaseKind) -> Iterator["HeldLease"]:
        """Take the lease kept in `directory` for the length of the context, from whom the kinds of work say.

        Raises LeaseHeld when it is to be left to who has it, LeaseLost when the same kind of work was faster.
        After an error that leaves a call's end unknown, the lease is left but not released: that call
        may still take effect, and the next holder has to wait for it.
        """
        client = HadoopClient(self.root, self.properties, self.user, _CLIENT_SETTINGS)
        epochs = LeaseFiles(client, directory)
        try:
            lease = self._take(epochs, holder, kind)
            try:
                yield lease
            except BaseException as error:
                if ends_unknown(error):
                    lease.leave()
                else:
                    # A refusal is an answer: nothing of ours is under way any more. Met by one who has lost the
                    # lease, it only shows what the new holder does, and the loss is what is told.
                    lease.release()
                raise
            lease.release()
        finally:
            with suppress(TwinhiveError):
                client.close()

    def holder(self, directory: str) -> str | None:
        """Say who has not released the lease (alive or killed), None when nobody holds it."""
        client = HadoopClient(self.root, self.properties, self.user, _CLIENT_SETTINGS)
        try:
            epochs = LeaseFiles(client, directory)
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
            epochs = LeaseFiles(client, directory)
            newest = epochs.newest()
            return bool(newest) and not epochs.is_closed(newest)
        finally:
            with suppress(TwinhiveError):
                client.close()

    def _take(self, epochs: LeaseFiles, holder: Mapping[str, str], kind: LeaseKind) -> "HeldLease":
        waited = 0.0
        while True:
            newest = epochs.newest()
            if newest and not epochs.is_closed(newest) and self._is_waited_for(epochs, newest, kind, waited):
                self.sleep(_PAUSE_SECONDS)
                waited += _PAUSE_SECONDS
                continue
            if newest and not epochs.is_released(newest):
                self._close(epochs, newest)
                self.sleep(self.settle_seconds)
            lease = self._next_after(epochs, newest, holder, kind)
            if lease is not None:
                epochs.delete_older_than(lease.epoch + 1 - _KEPT)
                return lease
            if self._kind_of_faster(epochs) is kind:
                raise epochs.lost(newest)

    def _is_waited_for(self, epochs: LeaseFiles, epoch: int, kind: LeaseKind, waited: float) -> bool:
        """True while a holder who may live may release it in time. Raises LeaseHeld when it is left to that one."""
        manner = manner_of(kind, epochs.kind_of(epoch))
        if manner is Manner.TAKE:
            return False
        if waited < self.patience_seconds:
            return True
        if manner is Manner.WAIT_THEN_LEAVE:
            raise epochs.held(epoch)
        return False

    def _next_after(
        self, epochs: LeaseFiles, epoch: int, holder: Mapping[str, str], kind: LeaseKind
    ) -> "HeldLease | None":
        """Open a file with the next number; None when somebody was faster."""
        if epochs.newest() != epoch:
            return None
        try:
            lease = HeldLease(epochs, epoch + 1, epochs.create(epoch + 1))
        except AlreadyThere:
            return None
        lease.write(_holder_line(holder, kind, epoch + 1))
        # Someone slower than two take-overs could have created a number that was deleted again.
        if epochs.newest() == epoch + 1:
            return lease
        lease.leave()
        return None

    def _kind_of_faster(self, epochs: LeaseFiles) -> LeaseKind | None:
        """Return what somebody works who was faster; the file is there a moment before it says so."""
        for _ in range(_TRIES_TO_READ):
            newest = epochs.newest()
            kind = epochs.kind_of(newest)
            if kind is not None or epochs.is_closed(newest):
                return kind
            self.sleep(_PAUSE_SECONDS)
        return None

    def _close(self, epochs: LeaseFiles, epoch: int) -> None:
        """Close the file under its writer, who cannot flush any more from then on."""
        waited = 0.0
        while not epochs.recover(epoch):
            if waited >= self.recovery_seconds:
                raise Unreachable(
                    f"{epochs.path(epoch)}: the lease of its last holder could not be ended",
                    found=f"the file is still open after {self.recovery_seconds:.0f} s",
                    expected="a file that the NameNode closes: each DataNode that holds its last block answers",
                    next_step="check the DataNodes that hold its block (hdfs fsck -files -blocks -locations)",
                )
            self.sleep(_PAUSE_SECONDS)
            waited += _PAUSE_SECONDS


class HeldLease:
    """Be the open file of one holder."""

    def __init__(self, epochs: LeaseFiles, epoch: int, stream: Any) -> None:
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
        self.write(b"\n" + RELEASED)
        self.leave()

    def leave(self) -> None:
        """Close the file without a word."""
        with suppress(java_class("java.io.IOException")):
            self._stream.close()


def _holder_line(holder: Mapping[str, str], kind: LeaseKind, epoch: int) -> bytes:
    facts = {**holder, "kind": kind.value, "epoch": epoch, "host": socket.gethostname(), "pid": os.getpid()}
    return (json.dumps(facts) + "\n").encode()
