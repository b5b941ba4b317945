"""Give tables of the replica the constraints that they have at the source."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from twinhive.core.model.constraints import FOREIGN_KEY, Constraint
from twinhive.core.model.errors import AlreadyThere, Missing, Refused
from twinhive.core.model.objects import Table
from twinhive.core.ports import MetastoreWriter


def constrain(replica: MetastoreWriter, table: Table) -> Iterator[str]:
    """Add those of a table's constraints that are not there yet; yield what cannot be added, with the reason.

    `table` has its name on the replica. Foreign keys come last: the tables they refer to must be there. Not even a
    refusal of the server stops a load: no row depends on a constraint.
    """
    wanted = table.constraints or ()
    there = {one.name for one in replica.constraints(table.name)} if wanted else frozenset()
    for some in _calls(one for one in wanted if one.name not in there):
        try:
            replica.add_constraints(table.name, some[0].kind, [text for one in some for text in one.structs])
        except (AlreadyThere, Missing, Refused) as error:
            yield from (f"constraint {one.name} of {table.name}: {error.words.what}" for one in some)


def _calls(constraints: Iterable[Constraint]) -> Iterator[list[Constraint]]:
    """Yield what one call adds: constraints of one kind together, a foreign key alone, as its table may be missing."""
    together: dict[str, list[Constraint]] = defaultdict(list)
    for one in constraints:
        together[one.name if one.kind == FOREIGN_KEY else one.kind].append(one)
    return iter(together.values())
