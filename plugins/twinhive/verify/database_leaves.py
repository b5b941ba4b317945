"""Compare what a database has beside its tables: what is said of itself, and its functions: few, and read whole."""

from collections.abc import Mapping

from twinhive.apply.function_files import FunctionSources, LeftOut
from twinhive.leaves.side import LeafState, Side
from twinhive.log.sealing import change_manager_root
from twinhive.model.equality.canonical import Plain, canonical_database, canonical_function
from twinhive.model.equality.tree import DifferenceKind
from twinhive.model.objects import Function
from twinhive.model.policy import Policy
from twinhive.model.text import render
from twinhive.ports import ReadPorts
from twinhive.verify.explaining import LeafDifference, difference
from twinhive.verify.judging import LeafCounts, TableComparison
from twinhive.verify.touched import DATABASE

_ITSELF = "database"


def compare_database(sides: tuple[Side, Side]) -> TableComparison:
    """Return what differs of databases and functions."""
    source, replica = sides
    here, there = _forms(source), _forms(replica)
    found = []
    for name in sorted(here.keys() | there.keys()):
        states = [LeafState(some[name], {}) if name in some else None for some in (here, there)]
        found.append(difference(sides, DATABASE, name, states[0], states[1]))
    leaves = len(here.keys() | there.keys())
    differences = tuple(one for one in found if one is not None)
    return TableComparison(DATABASE, LeafCounts(leaves, leaves, read=len(here) + len(there)), differences, "")


def left_out_functions(ports: ReadPorts, policy: Policy, missing: tuple[LeafDifference, ...]) -> dict[str, str]:
    """Return the functions that the replica does without because their files cannot come, with the reasons."""
    sources = FunctionSources(
        ports.source_files, policy, lambda: change_manager_root(ports.source, ports.source_files.root)
    )
    wanted = {one.leaf for one in missing if one.table == DATABASE and one.kind is DifferenceKind.MISSING}
    functions = ports.source.functions(policy.source.database) if wanted else []
    reasons = {_name(one): _why_left_out(sources, one) for one in functions if _name(one) in wanted}
    return {name: why for name, why in reasons.items() if why is not None}


def _why_left_out(sources: FunctionSources, function: Function) -> str | None:
    try:
        list(sources.all_of(function))
    except LeftOut as error:
        return render(error.what)
    return None


def _forms(side: Side) -> Mapping[str, Plain]:
    database = side.metastore.database(side.database)
    own = {_ITSELF: canonical_database(database)} if database else {}
    return own | {_name(one): canonical_function(one) for one in side.metastore.functions(side.database)}


def _name(function: Function) -> str:
    return f"function {function.name}"
