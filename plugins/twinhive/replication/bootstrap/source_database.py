"""Look for the database that a policy, or a statement, reads."""

from twinhive.core.model.errors import Missing, TwinhiveError
from twinhive.core.model.next_steps import CORRECT_THE_SOURCE
from twinhive.core.model.objects import Database
from twinhive.core.model.policy import Policy
from twinhive.core.model.remotes.as_source import refused_remote
from twinhive.core.model.text import Clear, Either
from twinhive.core.ports import MetastoreReader


def find_source_database(source: MetastoreReader, policy: Policy) -> Database | TwinhiveError:
    """Return the database, or why it cannot be read: it is a remote, or is not there."""
    database = source.database(policy.source.database)
    if database is not None:
        return refused_remote(database, policy.source) or database
    return Missing(
        f"database {policy.source.database} does not exist on cluster {policy.source.cluster}",
        found=f"no such database at {', '.join(source.addresses())}",
        expected="the database that " + Either("source.database of the policy file", "the statement") + " names",
        next_step=CORRECT_THE_SOURCE + ", or create the database; then " + Clear("the task"),
    )
