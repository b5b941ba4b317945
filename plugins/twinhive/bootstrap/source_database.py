"""Look for the database that a policy, or a statement, reads."""

from twinhive.model.errors import Missing, TwinhiveError
from twinhive.model.next_steps import CORRECT_THE_SOURCE
from twinhive.model.objects import Database
from twinhive.model.policy import Policy
from twinhive.model.remotes.as_source import refused_remote
from twinhive.model.text import Clear, Either
from twinhive.ports import MetastoreReader


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
