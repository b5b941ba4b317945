"""Read and write the numbered files of one lease on HDFS."""

import json
import re
from contextlib import suppress
from typing import Any

from twinhive.core.model.errors import LeaseHeld, LeaseLost, Missing, TwinhiveError, Unreachable
from twinhive.core.model.files import join
from twinhive.core.model.lease_kinds import LeaseKind
from twinhive.hive.adapters.hdfs.hadoop_client import HadoopClient
from twinhive.hive.adapters.hdfs.hadoop_errors import translated
from twinhive.hive.adapters.jvm.java_vm import java_class

_NAME = re.compile(r"lease-(\d{10})")
RELEASED = b"released\n"


class LeaseFiles:
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
        """True when the file is closed and its holder said so, or it is gone: others have been there since."""
        with suppress(Missing), self._translated(epoch):
            return self.is_closed(epoch) and self._read(epoch).endswith(RELEASED)
        return True

    def is_closed(self, epoch: int) -> bool:
        """True when nobody writes the file any more."""
        with suppress(Missing), self._translated(epoch):
            return bool(self._java.isFileClosed(self._java_path(epoch)))
        return True

    def recover(self, epoch: int) -> bool:
        """Begin to close a file under its writer; True when it is closed, or gone."""
        with suppress(Missing), self._translated(epoch):
            return bool(self._java.recoverLease(self._java_path(epoch)))
        return True

    def create(self, epoch: int) -> Any:
        """Open a new file for writing. Raises AlreadyThere when someone else has it."""
        with self._translated(epoch):
            return self._java.create(self._java_path(epoch), False)

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

    def held(self, epoch: int) -> LeaseHeld:
        """Return the error of a lease that is left to its holder."""
        return LeaseHeld(
            f"{self.path(epoch)}: the lease is held by a process that may still be running",
            found=self.holder_of(epoch),
            expected="a lease that is released, or whose holder has ended",
            next_step="wait until it has ended",
        )

    def kind_of(self, epoch: int) -> LeaseKind | None:
        """Return the kind of work of a holder; None for one that has not said it (yet), is gone, or cannot be read.

        A file that is open cannot be read while its only DataNode starts.
        """
        try:
            said = json.loads(self.holder_of(epoch))
        except (ValueError, Missing, Unreachable):
            return None
        return LeaseKind.of(said.get("kind")) if isinstance(said, dict) else None

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
            return f"the new holder is not known: {error.words.what}"

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
