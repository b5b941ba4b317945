"""Tell a source's metastore which policies replicate a database, and what a failover has done to it.

While the list `repl.source.for` is not empty, the change manager keeps dropped and overwritten
files, and Hive refuses to drop the database. Other replications keep their ids in the same list.
"""

from collections.abc import Callable

from twinhive.core.model.errors import Missing, Refused
from twinhive.core.model.failover.fence import FENCED
from twinhive.core.model.failover.left_mark import LEFT_FOR, LeftMark
from twinhive.core.model.marks import SOURCE_FOR, replicated_by
from twinhive.core.model.next_steps import command
from twinhive.core.model.objects import Parameters
from twinhive.core.model.text import Again
from twinhive.core.ports import MetastoreWriter


class MetastoreMarker:
    """Put a policy into a database's `repl.source.for` list, or take it out; say that a database is fenced, or left.

    Whose policy is put in, or taken out, has not left the database for its replica, or not any more.
    """

    def __init__(self, metastore: MetastoreWriter) -> None:
        self._metastore = metastore

    def mark(self, database: str, policy: str) -> None:
        """Add a policy to the list and read it back; raises Refused when it did not stay."""
        found = self._parameters(database)
        ids = replicated_by(found)
        if policy not in ids or _is_left_for(found, policy):
            self._replace(database, ids if policy in ids else [*ids, policy], policy)
            self._expect(database, lambda left: policy in left, f"a list with {policy}")

    def unmark(self, database: str, policy: str) -> None:
        """Take a policy out of the list; one that is not in it, or a dropped database, is fine."""
        try:
            found = self._parameters(database)
        except Missing:
            return
        ids = replicated_by(found)
        if policy in ids or _is_left_for(found, policy):
            self._replace(database, [other for other in ids if other != policy], policy)
            self._expect(database, lambda left: policy not in left, f"a list without {policy}")

    def fence(self, database: str, mark: str | None) -> None:
        """Say at the database that writers are kept away, or no more; raises Refused when that did not stay."""
        self._say(database, FENCED, mark)

    def leave(self, database: str, mark: LeftMark) -> None:
        """Say that a replica has taken over from a database. Raises Refused where another one has said so."""
        found = LeftMark.read(self._parameters(database))
        if found is not None and found.policy != mark.policy:
            raise Refused(
                f"two replicas have taken over from source database {database}",
                found=f"{mark.replica} of policy {mark.policy}; {LEFT_FOR} = {found}",
                expected="one primary",
                next_step="decide which one it is, and keep writers away from the other; end its policy with: "
                + command("twinhive", "forget", found.policy)
                + " (or "
                + command("twinhive", "forget", mark.policy)
                + ")",
            )
        self._say(database, LEFT_FOR, str(mark))

    def _say(self, database: str, key: str, mark: str | None) -> None:
        """Give a database one parameter of ours, or none, and read it back."""
        found = self._parameters(database)
        if found.get(key) == mark:
            return
        others = {name: value for name, value in found.items() if name != key}
        self._metastore.set_database_parameters(database, others if mark is None else {**others, key: mark})
        if (stayed := self._parameters(database).get(key)) != mark:
            raise Refused(
                f"{key} of source database {database} did not stay as it was written",
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

    def _replace(self, database: str, ids: list[str], policy: str) -> None:
        # Read once more: parameters are replaced as a whole, and a change made meanwhile must stay.
        found = self._parameters(database)
        gone = {SOURCE_FOR, LEFT_FOR} if _is_left_for(found, policy) else {SOURCE_FOR}
        others = {key: value for key, value in found.items() if key not in gone}
        self._metastore.set_database_parameters(database, {**others, SOURCE_FOR: ",".join(ids)} if ids else others)

    def _expect(self, database: str, holds: Callable[[list[str]], bool], expected: str) -> None:
        ids = replicated_by(self._parameters(database))
        if not holds(ids):
            raise Refused(
                f"{SOURCE_FOR} of source database {database} did not stay as it was written",
                found=",".join(ids) or "an empty list",
                expected=expected,
                next_step="see who else changes the database's parameters, and " + Again(),
            )


def _is_left_for(parameters: Parameters, policy: str) -> bool:
    mark = LeftMark.read(parameters)
    return mark is not None and mark.policy == policy
