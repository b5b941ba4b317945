"""Compare what a database has beside its tables: what is said of itself, and its functions: few, and read whole."""

from collections.abc import Mapping
from dataclasses import dataclass

from twinhive.core.model.errors import Unexplained, may_pass
from twinhive.core.model.objects import Function
from twinhive.core.model.text import render
from twinhive.core.ports import ReadPorts
from twinhive.core.step.step_base import Work
from twinhive.replication.apply.function_files import FunctionSources, LeftOut
from twinhive.replication.comparison.canonical_form import Plain, canonical_database, canonical_function
from twinhive.replication.comparison.hash_tree import DifferenceKind
from twinhive.replication.comparison.leaf_reader import LeafState, Side
from twinhive.replication.notification_log.dump_checksums import change_manager_root
from twinhive.replication.verify.leaf_differences import LeafDifference, difference
from twinhive.replication.verify.table_verdicts import LeafCounts, TableComparison
from twinhive.replication.verify.touched_leaves import DATABASE

_ITSELF = "database"


def compare_database(sides: tuple[Side, Side]) -> TableComparison:
    """Return what differs of databases and functions."""
    source, replica = sides
    here, there = _forms(source), _forms(replica)
    found = []
    for name in sorted(here.keys() | there.keys()):
        states = [LeafState(some[name], {}) if name in some else None for some in (here, there)]
        found.append(difference(DATABASE, name, states[0], states[1]))
    leaves = len(here.keys() | there.keys())
    differences = tuple(one for one in found if one is not None)
    return TableComparison(DATABASE, LeafCounts(leaves, leaves, read=len(here) + len(there)), differences, "")


@dataclass(frozen=True)
class AbsentFunctions:
    """Functions that the replica does not have, by the names of their leaves, with the reasons.

    left_out   their files cannot come
    unknown    nobody knows whether they can, also after the last try
    """

    left_out: Mapping[str, str]
    unknown: Mapping[str, str]


def absent_functions(work: Work, ports: ReadPorts, missing: tuple[LeafDifference, ...]) -> AbsentFunctions:
    """Return why the replica does without functions that are missing there. Raises what may pass."""
    policy = work.policy
    sources = FunctionSources(
        ports.source_files, policy, lambda: change_manager_root(ports.source, ports.source_files.root)
    )
    wanted = {one.leaf for one in missing if one.table == DATABASE and one.kind is DifferenceKind.MISSING}
    functions = ports.source.functions(policy.source.database) if wanted else []
    left_out, unknown = dict[str, str](), dict[str, str]()
    for one in functions:
        error = _why_left_out(sources, one) if _name(one) in wanted else None
        if error is None:
            continue
        if may_pass(error, is_last_try=work.is_last_try):
            raise error
        (unknown if isinstance(error, Unexplained) else left_out)[_name(one)] = render(error.what)
    return AbsentFunctions(left_out, unknown)


def _why_left_out(sources: FunctionSources, function: Function) -> LeftOut | None:
    try:
        list(sources.all_of(function))
    except LeftOut as error:  # which of the two it is, is asked there
        return error
    return None


def _forms(side: Side) -> Mapping[str, Plain]:
    database = side.metastore.database(side.database)
    own = {_ITSELF: canonical_database(database)} if database else {}
    return own | {_name(one): canonical_function(one) for one in side.metastore.functions(side.database)}


def _name(function: Function) -> str:
    return f"function {function.name}"
