"""Where the data of a load is copied: in its own process, or elsewhere."""

from typing import Protocol

from twinhive.core.ports import WritePorts
from twinhive.core.step.step_base import Work
from twinhive.replication.bootstrap.copy_batch import CopyBatch
from twinhive.replication.external_tables.sync_external import Execution, InThisProcess


class CopyingPlace(Execution, Protocol):
    """Where batches of a dump are copied, and plans of external tables' directories are carried out."""

    def batch(self, work: Work, ports: WritePorts) -> None:
        """Copy the batch that `work` names. Raises TryAgain or ActNow."""
        ...


class _InThisProcess(InThisProcess):
    def batch(self, work: Work, ports: WritePorts) -> None:
        CopyBatch(work).run(ports)


IN_THIS_PROCESS: CopyingPlace = _InThisProcess()
