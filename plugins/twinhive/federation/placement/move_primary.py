"""Move a table's home to another cluster of its metastore: copy, fence, switch; the old place becomes a copy."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from twinhive.core.model.errors import ActNow, TryAgain
from twinhive.core.model.lease_kinds import LeaseKind
from twinhive.core.model.marks import STAMP
from twinhive.core.model.names import TableName
from twinhive.core.model.next_steps import command
from twinhive.core.model.objects import Table
from twinhive.core.model.placement.copy_marks import primary_of
from twinhive.core.model.policy import Policy
from twinhive.core.model.sets.own_tables import COPY_MARKS
from twinhive.core.ports import ReadPorts, WritePorts
from twinhive.core.step.replica_lease import hold_lease
from twinhive.core.step.step_base import Report, Work
from twinhive.federation.placement.copied_objects import Marked
from twinhive.federation.placement.copy_freshness import AHEAD, MarksFound, look_at_table, marked_objects, marks_table
from twinhive.federation.placement.copy_objects import CopyObjects
from twinhive.federation.placement.former_locations import forget_old, remember_old, remembered_old
from twinhive.federation.placement.late_files import settle_old_place
from twinhive.federation.placement.list_copies import ListCopies, clear_work, placement_problems
from twinhive.federation.placement.marking_copies import remove_marks
from twinhive.federation.placement.placement_events import CopyNews
from twinhive.federation.placement.placement_layout import copies_directory, kept
from twinhive.federation.placement.primary_switch import Switching
from twinhive.federation.placement.publish_copies import PublishCopies
from twinhive.federation.placement.switch_recovery import NotTold, give_back
from twinhive.federation.routing.move_mark import PrimaryMove
from twinhive.hive.events.reader import position_at

_ROUNDS = 5
_EXAMPLES = 5


def _silent(line: object) -> None:
    """Report to nobody."""


def copy_here(work: Work, ports: WritePorts) -> None:
    """Copy a batch in this process."""
    CopyObjects(work).run(ports)


@dataclass(frozen=True)
class MovePrimary:
    """Bring a table home to the cluster of `policy`, which makes copies of it there and of nothing else.

    What is done shows in the metastore alone: killed at any moment and run again, it goes on from there. `copy` copies
    a batch of more files than are copied while they are listed.
    """

    policy: Policy
    name: TableName
    holder: Mapping[str, str] = field(default_factory=dict)
    report: Report = _silent
    copy: Callable[[Work, WritePorts], None] = copy_here

    @property
    def _move(self) -> PrimaryMove:
        return PrimaryMove(self.policy.source.cluster, self.policy.replica.cluster)

    @property
    def _switching(self) -> Switching:
        return Switching(self.policy, self.name, self._move)

    @property
    def _work(self) -> Work:
        return Work(self.policy, holder=dict(self.holder), report=self.report)

    def plan(self, ports: ReadPorts) -> list[str]:
        """Say what a run would do after it has copied what has no copy. Raises what a run would raise before that."""
        table = self._checked(ports)
        return list(self._actions(ports, table))

    def run(self, ports: WritePorts) -> list[str]:
        """Do it; return what was done. Raises ActNow for a table that cannot be moved, TryAgain for one in use."""
        table = self._checked(ports)
        actions = list(self._actions(ports, table))
        if self._belongs(table) and (self._move_of(ports, table) is None or self._finish(ports)):
            return actions
        # Most of it while the table is written as ever.
        left_out = self._copy(ports)
        for _ in range(_ROUNDS):
            if self._fenced(ports):
                left_out = self._copy(ports)
                if self._switched(ports) and self._finish(ports):
                    return actions
        raise TryAgain(
            f"{self.name} cannot be switched: it is written all the time",
            found="; ".join([f"other files or another definition after each of {_ROUNDS} copies", *left_out]),
            expected="nobody who writes it for the length of one copy",
            next_step="stop the jobs that write it, then run the same command again",
        )

    def _actions(self, ports: ReadPorts, table: Table) -> Iterator[str]:
        """Say what is done from here on, in order."""
        switching, move = self._switching, self._move
        if not self._belongs(table):
            waiting = switching.waiting(ports, table)
            if self._move_of(ports, table) is None:
                yield f"{self.name}: marked as being moved {move}: nobody is to write it"
            if table.partition_keys:
                yield f"{self.name}: {len(waiting)} partitions are switched to {self._places()}"
            yield f"{self.name}: belongs to {move.target}, by one call; the old place {table.location} becomes a copy"
        elif self._move_of(ports, table) is None:
            yield f"{self.name} belongs to {move.target}"
            return
        yield f"{self.name}: the mark of the move is taken away, after a last look at the old place"

    def _places(self) -> str:
        adopted = kept(self.policy).adopts
        there = f", or to the copies that are there in {', '.join(adopted)}" if adopted else ""
        return f"{copies_directory(self.policy)}{there}"

    def _move_of(self, ports: ReadPorts, table: Table) -> PrimaryMove | None:
        return marks_table(ports.source, self.policy).move(table)

    def _belongs(self, table: Table) -> bool:
        return primary_of(table.parameters, kept(self.policy).default_cluster) == self._move.target

    def _checked(self, ports: ReadPorts) -> Table:
        """Return the table. Raises ActNow for one that cannot be moved, before anything is changed."""
        table = self._table(ports)
        if self._belongs(table):
            return table
        if STAMP in table.parameters:
            raise ActNow(
                f"{self.name} cannot be moved: it is a replica",
                found=f"{STAMP}: {table.parameters[STAMP]}",
                expected="a table that no policy brings over",
                next_step="let a policy bring it to the other cluster, or give the replica up first",
            )
        self._refuse_what_has_no_copy(ports, table)
        if problems := list(placement_problems(ports, self.policy)):
            raise ActNow(
                f"{self.name} cannot be moved to {copies_directory(self.policy)}",
                found="; ".join(f"{one.words.what}: {one.words.found}" for one in problems),
                expected="a directory apart from all warehouses and tables, which nobody else has made",
                next_step="name another root with --root, then run the same command again",
            )
        return table

    def _table(self, ports: ReadPorts) -> Table:
        """Return the table as it is. Raises ActNow for one that is gone, or in another move."""
        table = ports.source.table(self.name)
        if table is None:
            raise ActNow(
                f"there is no table {self.name}",
                found="nothing of this name in the metastore",
                expected="a table of the metastore",
                next_step="correct the name: DATABASE.TABLE",
            )
        under_way = self._move_of(ports, table)
        if under_way is not None and under_way != self._move:
            raise ActNow(
                f"{self.name} is being moved {under_way}",
                found=f"the mark of that move in {COPY_MARKS.of(self.name.database)}",
                expected=f"none, or that of a move {self._move}",
                next_step="finish that first: " + command("twinhive", "move-primary", str(self.name), under_way.target),
            )
        return table

    def _refuse_what_has_no_copy(self, ports: ReadPorts, table: Table) -> None:
        here = position_at(ports.source, ports.source.current_event_id())
        found = look_at_table(ports, self.policy, self.name, CopyNews.nothing(self.policy, ports.source.log_id(), here))
        objects = marked_objects(ports.source, table, self.policy) if table.has_files else ()
        moved = {self._said(table, one) for one in objects if self._switching.is_moved(one)}
        # One of a time to come is written at this moment, mostly: the rounds see that.
        left_out = [f"{what}: {why}" for what, why in found.left_out.items() if what not in moved and why != AHEAD]
        if left_out:
            raise ActNow(
                f"{self.name} cannot be moved: what of it cannot be copied is {len(left_out)} objects",
                found="; ".join(left_out[:_EXAMPLES]),
                expected="a managed or an external table, each directory of it on the file system of its own cluster",
                next_step="mend what is said above, then run the same command again",
            )

    def _said(self, table: Table, one: Marked) -> str:
        return str(self.name) if isinstance(one, Table) else f"{self.name} {one.name(table.partition_keys)}"

    # --- what is done

    def _copy(self, ports: WritePorts) -> list[str]:
        """Copy what has no fresh copy, until nothing is left; what is written all the time is left to the switch.

        Returns what was left out at last, and why.
        """
        left_out: list[str] = []
        for _ in range(_ROUNDS):
            listed = ListCopies(self._work).run(ports)
            left_out = [f"{what}: {why}" for what, why in listed.left_out.items()][:_EXAMPLES]
            if listed.idle:
                break
            for batch in listed.batches:
                self.copy(replace(self._work, batch=batch.name, dump=listed.dump), ports)
            PublishCopies(self._work).run(ports)
        return left_out

    def _fenced(self, ports: WritePorts) -> bool:
        with hold_lease(ports, self._work, LeaseKind.PLACEMENT):
            table = self._table(ports)
            if self._move_of(ports, table) is not None:
                return True
            forget_old(ports.replica_files, self.policy)  # what a move before this one has left
            return self._switching.fence(ports, table)

    def _switched(self, ports: WritePorts) -> bool:
        with hold_lease(ports, self._work, LeaseKind.PLACEMENT) as lease, self._said_once(ports):
            self._give_back(ports)
            for call in remembered_old(ports.replica_files, self.policy, ports.source)[-1:]:
                homes = {place.values: place.home for place in call.places if place.files is not None}
                self._switching.stay_copies(ports, lease, homes)  # a kill before it was made, or given back
            table = self._table(ports)
            if self._belongs(table):
                return True
            is_ready = not table.partition_keys or self._switching.switch_partitions(ports, lease, table)
            return is_ready and self._switching.switch_table(ports, lease)

    def _give_back(self, ports: WritePorts) -> bool:
        """Give back what a call of this run, or of one before it, has overwritten; True where something was."""
        calls = remembered_old(ports.replica_files, self.policy, ports.source)
        # What was tried twice was read anew before the last try.
        last = {place.values: call for call in calls for place in call.places}
        found = []
        for call in calls:
            places = tuple(place for place in call.places if last[place.values] is call)
            found += give_back(ports, self.name, replace(call, places=places))
        for what in found:
            self.report(f"{what} was changed at the same time; it is as that change has left it")
        return bool(found)

    @contextmanager
    def _said_once(self, ports: WritePorts) -> Iterator[None]:
        """Let what nobody knows of a call end a run once: the next one takes the log from here on."""
        try:
            yield
        except NotTold as error:
            self.report(str(error))
            here = position_at(ports.source, ports.source.current_event_id())
            remember_old(ports.replica_files, self.policy, replace(error.call, position=here))
            raise

    def _finish(self, ports: WritePorts) -> bool:
        """Look at the old place once more, then take the mark of the move away; False where more has to be switched.

        Raises ActNow for late files.
        """
        switching = self._switching
        with hold_lease(ports, self._work, LeaseKind.PLACEMENT), self._said_once(ports):
            if self._give_back(ports):
                return False
            if late := settle_old_place(ports, switching):
                raise ActNow(
                    f"{self.name} has moved {self._move}; {len(late)} files came to the old place too late for it",
                    found=", ".join(late[:_EXAMPLES]),
                    expected="nobody who writes a table that bears the mark of a move",
                    next_step="copy these files to the new place, or remove them, then run the same command again",
                )
            table = self._table(ports)
            marked = MarksFound.read(marks_table(ports.source, self.policy), self.policy, self.name, table)
            remove_marks(ports.replica, self.policy, self.name.table, list(marked.ours))
            switching.take_fence_away(ports)
            forget_old(ports.replica_files, self.policy)
            clear_work(ports, self.policy)
        return True
