"""Plan how a table of the replica becomes what the source had at one event, leaf by leaf."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from twinhive.core.model.changes.contents import SourceFile, TableState
from twinhive.core.model.files import FileStatus
from twinhive.core.model.objects import Table
from twinhive.replication.comparison.canonical_form import Plain, statistics
from twinhive.replication.comparison.leaf_actions import LeafAction, TablePlan
from twinhive.replication.comparison.leaf_reader import LeafState, Side
from twinhive.replication.comparison.leaf_records import OWN_LEAF


@dataclass(frozen=True)
class _Wanted:
    """A leaf as it is to be: its form, the files of the source, and what the source counted of them."""

    form: Plain
    statistics: Mapping[str, str]
    files: Mapping[str, SourceFile]


def plan_table(sides: tuple[Side, Side], state: TableState) -> TablePlan | None:
    """Compare a source table at one event with the replica's present one.

    None where there is nothing to compare with, or where a table of another kind or with other keys stands: then it is
    built anew as a whole. So is an external one that differs: it waits for its data.
    """
    source, replica = sides
    name = state.table.name.table
    there = replica.metastore.table(replica.name(name))
    if there is None or not _is_alike(state.table, there):
        return None
    actions = {OWN_LEAF: _own_action(sides, state, there)}
    if there.partition_keys:
        present = replica.metastore.partition_names(there.name)
        actions |= dict.fromkeys(set(present) - state.partitions.keys(), LeafAction.DROP)
        actions |= dict.fromkeys(state.partitions.keys() - set(present), LeafAction.ADD)
        both = sorted(state.partitions.keys() & set(present))
        per_call = source.policy.options.partitions_per_call
        for start in range(0, len(both), per_call):
            actions |= _of_partitions(sides, state, there, both[start : start + per_call])
    differs = any(action is not LeafAction.KEEP for action in actions.values())
    return None if state.table.is_external and differs else TablePlan(name, actions)


def _is_alike(source: Table, replica: Table) -> bool:
    is_one = source.kind is replica.kind and source.kind.why_left_out is None
    return is_one and source.partition_keys == replica.partition_keys


def _own_action(sides: tuple[Side, Side], state: TableState, there: Table) -> LeafAction:
    source, replica = sides
    files = {} if there.partition_keys else state.content.files
    wanted = _Wanted(source.form_of_table(state.table), statistics(state.table.parameters), files)
    ((_, found),) = replica.read(there, [OWN_LEAF], {}, lambda name: False)
    return _action(sides, wanted, found)


def _of_partitions(
    sides: tuple[Side, Side], state: TableState, there: Table, names: Sequence[str]
) -> Iterator[tuple[str, LeafAction]]:
    source, replica = sides
    found = dict(replica.read(there, names, {}, lambda name: False))
    for name in names:
        partition = state.partitions[name]
        said = statistics(partition.partition.parameters)
        form = source.form_of_partition(partition.partition, state.table)
        wanted = _Wanted(form, said, partition.content.files)
        if name not in found:
            yield name, LeafAction.ADD
        else:
            yield name, _action(sides, wanted, found[name])


def _action(sides: tuple[Side, Side], wanted: _Wanted, found: LeafState) -> LeafAction:
    if not _has_equal_files(sides, wanted.files, found.files):
        return LeafAction.REPLACE
    # Of what the source says nothing, the replica's metastore may have counted by itself.
    is_counted = all(found.statistics.get(name) == value for name, value in wanted.statistics.items())
    return LeafAction.KEEP if wanted.form == found.form and is_counted else LeafAction.ALTER


def _has_equal_files(
    sides: tuple[Side, Side], wanted: Mapping[str, SourceFile], found: Mapping[str, FileStatus]
) -> bool:
    """Compare names, lengths and checksums; what cannot be compared any more is not equal."""
    if {name: one.length for name, one in wanted.items()} != {name: one.length for name, one in found.items()}:
        return False
    source, replica = sides
    here = source.checksums([one.path for one in wanted.values()])
    there = replica.checksums([one.path for one in found.values()])
    pairs = ((here[one.path], there[found[name].path]) for name, one in wanted.items())
    return all(one is not None and one == other for one, other in pairs)
