"""Let a load begin only when every batch of the dump is listed, copied and compared."""

from dataclasses import dataclass

from twinhive.domain.errors import ActNow
from twinhive.domain.marks import Phase
from twinhive.dump.layout import result_path
from twinhive.dump.store import Dump, current_dump, read_json
from twinhive.ports import ReadPorts
from twinhive.steps.base import Work
from twinhive.steps.quiet_scope import refuse_events_since
from twinhive.steps.replica_state import already_published, read_state


@dataclass(frozen=True)
class GateOpen:
    """What passed the gate: files and bytes that are staged and equal their source."""

    files: int = 0
    bytes: int = 0
    already: str | None = None


@dataclass(frozen=True)
class Gate:
    """Compare what the dump lists with what the copy tasks report."""

    work: Work

    def run(self, ports: ReadPorts) -> GateOpen:
        """Return the totals. Raises ActNow naming the batches to clear."""
        policy = self.work.policy
        state = read_state(ports.replica, policy, ports.source.log_id())
        if already := already_published(state):
            self.work.report(already)
            return GateOpen(already=already)
        dump = current_dump(ports.dump_files, policy)
        opened = check_copied(ports, dump, policy.staging)
        refuse_events_since(ports.source, dump, policy)
        if state.phase is Phase.LOADING:
            self.work.report(f"a load of dump {state.dump} was cut off; the load task goes on from there")
        self.work.report(f"gate open: {opened.files} files, {opened.bytes} bytes staged and compared")
        return opened


def check_copied(ports: ReadPorts, dump: Dump, staging: str) -> GateOpen:
    """Compare listed and copied files of every batch. Raises ActNow with the batches that differ."""
    problems: list[str] = []
    files = length = 0
    for batch in dump.manifest.batches:
        listed = read_json(ports.dump_files, dump.layout.summary(batch.name))
        copied = read_json(ports.replica_files, result_path(staging, dump.key, batch.name))
        if listed is None:
            problems.append(f"{batch.label}: its files are not listed")
        elif listed["files"] and copied is None:
            problems.append(f"{batch.label}: its files are not copied")
        elif listed["files"] and copied is not None and _missing(listed, copied):
            problems.append(f"{batch.label}: {_missing(listed, copied)} of {listed['files']} files are not copied")
        else:
            files, length = files + listed["files"], length + listed["bytes"]
    if problems:
        raise ActNow(
            f"the dump {dump.key} is not complete on the replica",
            found="; ".join(problems[:10]) + (f"; and {len(problems) - 10} more" if len(problems) > 10 else ""),
            expected="every batch listed and copied",
            next_step="clear the failed list_files and copy tasks of these tables with all tasks after them",
        )
    return GateOpen(files, length)


def _missing(listed: dict[str, int], copied: dict[str, int]) -> int:
    return listed["files"] - copied["copied_files"] - copied["skipped_files"]
