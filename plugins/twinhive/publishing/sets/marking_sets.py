"""Say that a set is done, and that it is not done any more."""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from twinhive.core.model.errors import AlreadyThere, InvalidSettings, Missing, TryAgain
from twinhive.core.model.names import TableName, partition_values
from twinhive.core.model.objects import Partition, Table
from twinhive.core.model.sets.set_mark import SetMark, mark_name
from twinhive.core.model.sets.set_spec import SetSpec
from twinhive.core.model.thrift_objects import key_types, new_partition, table_id
from twinhive.core.ports import MetastoreReader, MetastoreWriter
from twinhive.publishing.sets.done_sets import DEFAULT_KEEP, is_valid
from twinhive.publishing.sets.sets_table import data_table, find_sets_table, make_sets_table, refuse_replica

_LONGEST_TOKEN = 1_000
_LONGEST_NOTE = 1_000
"""Characters; the metastore keeps values of parameters of 4,000."""
_TIMES = 3


@dataclass(frozen=True)
class MarkOutcome:
    """The mark as it is kept now; `already`: this token was counted before, and nothing was changed."""

    mark: SetMark
    already: bool = False


@dataclass(frozen=True)
class MarkSet:
    """Mark a set of a table as done.

    spec   a set as people write it, `key=value/key=value` or `*`
    token  names the work that marks: a rerun with the same one counts once, as long as the mark does not expire
    keep   how long marks are kept of tables that do not say it themselves
    """

    table: TableName
    spec: str
    token: str
    by: str | None = None
    note: str | None = None
    keep: str = DEFAULT_KEEP
    clock: Callable[[], float] = field(default=time.time, repr=False)

    def plan(self, metastore: MetastoreReader) -> MarkOutcome:
        """Return what a run would leave. Reads only."""
        table = self._table(metastore)
        wanted = self._wanted(metastore, table)
        return self._after(_kept(metastore, wanted), wanted, table)

    def run(self, metastore: MetastoreWriter) -> MarkOutcome:
        """Mark it. Raises InvalidSettings, Missing, ActNow; TryAgain when nobody knows whether it is marked."""
        table = self._table(metastore)
        wanted = self._wanted(metastore, table)
        sets = make_sets_table(metastore, self.table.database, self.by)
        for _ in range(_TIMES):
            kept = _kept(metastore, wanted)
            after = self._after(kept, wanted, table)
            if after.already:
                return after
            partition = new_partition(sets, (wanted.table.table, wanted.spec), after.mark.parameters())
            try:
                if kept is None:
                    metastore.add_partitions([partition])
                else:
                    metastore.alter_partitions([replace(partition, thrift=kept.thrift, location=kept.location)])
                    if self._is_overwritten(metastore, wanted):
                        continue  # somebody else who marks it had read it before, and wrote after us
            except (AlreadyThere, Missing):
                continue  # marked, or unmarked, by somebody else meanwhile
            except TryAgain:
                # The answer is lost, the mark may be there: the token tells.
                now = _kept(metastore, wanted)
                if now is None or not SetMark.read(now).knows(self.token):
                    raise
            return after
        raise TryAgain(
            f"set {wanted.spec} of {self.table} is marked and unmarked by others all the time",
            found=f"another mark, or none, after each of {_TIMES} tries",
            expected="a mark that stays while it is written",
            next_step="mark it again with the same token, " + self.token,
        )

    def _after(self, kept: Partition | None, wanted: SetMark, table: Table) -> MarkOutcome:
        before = None if kept is None else SetMark.read(kept)
        if before is None or not self._counts(before, table):
            return MarkOutcome(wanted)
        if wanted.token is not None and before.knows(wanted.token):
            return MarkOutcome(before, already=True)
        return MarkOutcome(before.again(wanted))

    def _counts(self, before: SetMark, table: Table) -> bool:
        """Tell whether an earlier mark still counts: one that has expired must not keep a rerun from marking."""
        with suppress(InvalidSettings):  # who waits is told of a property without sense
            return is_valid(before, table, self.keep, self.clock())
        return before.is_of(table)

    def _is_overwritten(self, metastore: MetastoreReader, wanted: SetMark) -> bool:
        """True when another one's mark has replaced ours; not for a set that was unmarked meanwhile."""
        now = _kept(metastore, wanted)
        return now is not None and not SetMark.read(now).knows(self.token)

    def _table(self, metastore: MetastoreReader) -> Table:
        for what, text, limit in (("token", self.token, _LONGEST_TOKEN), ("note", self.note or "", _LONGEST_NOTE)):
            if len(text) > limit:
                raise InvalidSettings(
                    f"the {what} of a set is too long",
                    found=f"{len(text)} characters",
                    expected=f"at most {limit}",
                    next_step="shorten it",
                )
        if not self.token:
            raise InvalidSettings(
                "a set is marked without a token",
                found="an empty text",
                expected="a text that names the work, so that a rerun of it counts once",
                next_step="give one, such as the run's id",
            )
        refuse_replica(metastore, self.table.database)
        return data_table(metastore, self.table)

    def _wanted(self, metastore: MetastoreReader, table: Table) -> SetMark:
        spec = SetSpec.parse(self.spec, key_types(table))
        return SetMark(
            table=self.table,
            spec=str(spec),
            marked=int(self.clock()),
            by=self.by,
            partitions=len(partitions_of(metastore, table, spec)) if table.partition_keys else None,
            table_id=table_id(table),
            token=self.token,
            note=self.note,
        )


@dataclass(frozen=True)
class UnmarkSet:
    """Say that a set is not done any more."""

    table: TableName
    spec: str

    def plan(self, metastore: MetastoreReader) -> bool:
        """Return whether it is marked. Reads only."""
        return bool(self._found(metastore))

    def run(self, metastore: MetastoreWriter) -> bool:
        """Take the mark away; False when there is none."""
        refuse_replica(metastore, self.table.database)
        found = self._found(metastore)
        if not found:
            return False
        metastore.drop_partitions(found[0].table, [mark_name(*one.values) for one in found], delete_data=True)
        return True

    def _found(self, metastore: MetastoreReader) -> Sequence[Partition]:
        """Return the marks of the set. Raises Missing, InvalidSettings for what is neither marked nor a set."""
        sets = find_sets_table(metastore, self.table.database)
        table = metastore.table(self.table)
        found = self._named(metastore, sets, self._texts(table)) if sets else []
        if not found:
            SetSpec.parse(self.spec, key_types(table or data_table(metastore, self.table)))
        return found

    def _named(self, metastore: MetastoreReader, sets: Table, texts: Sequence[str]) -> list[Partition]:
        """Return the marks that are meant, also those whose table plain SQL has written in capitals.

        Where there is none of these, one that it has written in yet another way is looked for among all names.
        """
        usual = [mark_name(name, text) for name in (self.table.table, self.table.table.upper()) for text in texts]
        if found := metastore.partitions(sets.name, usual):
            return found
        wanted = {(self.table.table, text) for text in texts}
        written = ((name, partition_values(name)) for name in metastore.partition_names(sets.name))
        return metastore.partitions(
            sets.name, [name for name, (table, spec) in written if (table.lower(), spec) in wanted]
        )

    def _texts(self, table: Table | None) -> Sequence[str]:
        """Return how the set may be written: as it is given, which `list` may show, and as marks are kept.

        So a mark by plain SQL that is no set of its table can be taken away too, and one of a table that is gone.
        """
        with suppress(InvalidSettings):
            if table is not None:
                return sorted({self.spec, str(SetSpec.parse(self.spec, key_types(table)))})
        return [self.spec]


def partitions_of(metastore: MetastoreReader, table: Table, spec: SetSpec) -> list[str]:
    """Return the names of a table's partitions that are in a set."""
    keys = table.partition_keys
    asked = spec.prefix_values(keys)
    names = metastore.partition_names_with(table.name, asked) if any(asked) else metastore.partition_names(table.name)
    return [name for name in names if spec.matches(partition_values(name), keys)]


def _kept(metastore: MetastoreReader, wanted: SetMark) -> Partition | None:
    sets = find_sets_table(metastore, wanted.table.database)
    found = metastore.partitions(sets.name, [wanted.name]) if sets else []
    return found[0] if found else None
