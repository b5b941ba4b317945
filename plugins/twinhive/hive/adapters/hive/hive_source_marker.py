"""Tell a source's metastore which policies replicate a database.

While the list `repl.source.for` is not empty, the change manager keeps dropped and overwritten
files, and Hive refuses to drop the database. Other replications keep their ids in the same list.
"""

from collections.abc import Callable

from twinhive.core.model.errors import Missing, Refused
from twinhive.core.model.failover.fence import FENCED
from twinhive.core.model.marks import SOURCE_FOR
from twinhive.core.model.objects import Parameters
from twinhive.core.model.text import Again
from twinhive.core.ports import MetastoreWriter


class MetastoreMarker:
    """Put a policy into a database's `repl.source.for` list, and take it out again; say that a database is fenced."""

    def __init__(self, metastore: MetastoreWriter) -> None:
        self._metastore = metastore

    def mark(self, database: str, policy: str) -> None:
        """Add a policy to the list and read it back; raises Refused when it did not stay."""
        ids = _policies(self._parameters(database))
        if policy not in ids:
            self._replace(database, [*ids, policy])
            self._expect(database, lambda left: policy in left, f"a list with {policy}")

    def unmark(self, database: str, policy: str) -> None:
        """Take a policy out of the list; one that is not in it, or a dropped database, is fine."""
        try:
            ids = _policies(self._parameters(database))
        except Missing:
            return
        if policy in ids:
            self._replace(database, [other for other in ids if other != policy])
            self._expect(database, lambda left: policy not in left, f"a list without {policy}")

    def fence(self, database: str, mark: str | None) -> None:
        """Say at the database that writers are kept away, or no more; raises Refused when that did not stay."""
        found = self._parameters(database)
        if found.get(FENCED) == mark:
            return
        others = {key: value for key, value in found.items() if key != FENCED}
        self._metastore.set_database_parameters(database, others if mark is None else {**others, FENCED: mark})
        if (stayed := self._parameters(database).get(FENCED)) != mark:
            raise Refused(
                f"{FENCED} of source database {database} did not stay as it was written",
                found=stayed or "(not set)",
                expected=mark or "(not set)",
                next_step="see who else changes the database's parameters, and " + Again(),
            )

    def _parameters(self, database: str) -> Parameters:
        found = self._metastore.database(database)
        if found is None:
            raise Missing(
                f"source database {database} does not exist",
                found="no database of that name",
                expected="the policy's source database",
                next_step="correct the policy's source database, or the cluster's metastore addresses",
            )
        return found.parameters

    def _replace(self, database: str, ids: list[str]) -> None:
        # Read once more: parameters are replaced as a whole, and a change made meanwhile must stay.
        others = {key: value for key, value in self._parameters(database).items() if key != SOURCE_FOR}
        self._metastore.set_database_parameters(database, {**others, SOURCE_FOR: ",".join(ids)} if ids else others)

    def _expect(self, database: str, holds: Callable[[list[str]], bool], expected: str) -> None:
        ids = _policies(self._parameters(database))
        if not holds(ids):
            raise Refused(
                f"{SOURCE_FOR} of source database {database} did not stay as it was written",
                found=",".join(ids) or "an empty list",
                expected=expected,
                next_step="see who else changes the database's parameters, and " + Again(),
            )


def _policies(parameters: Parameters) -> list[str]:
    return [policy.strip() for policy in parameters.get(SOURCE_FOR, "").split(",") if policy.strip()]
