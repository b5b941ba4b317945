"""Say the ways out that errors share, and name settings: as tasks of a policy do, and as statements do."""

from twinhive.model.wording import Wording

_SAY_AGAIN = "run the statement again"
_BEGIN_ANEW = "drop the replica, then dump and load the whole database"
_TWO_DUMPS = "two more dumps, one that leaves the table out (REPLACE) and one that takes it in again"

RETRIES = Wording("the task retries by itself", _SAY_AGAIN)
BOOTSTRAP_AGAIN = Wording("start the policy's bootstrap DAG with again=true", _BEGIN_ANEW)

BASE_DIRECTORY = Wording("external_tables.base_directory", "hive.repl.replica.external.table.base.dir")
NO_EXTERNAL_TABLES = Wording("external_tables.include: false", "'hive.repl.include.external.tables'='false'")
STAGING_ROOT = Wording("staging_root", "twinhive.staging.root")
DUMP_ROOT = Wording("dump_root", "hive.repl.rootdir")
CORRECT_THE_SOURCE = Wording("correct source.database in the policy file", "correct the statement")
IN_THE_POLICY_FILE = Wording("in the policy file", "in WITH (or in the file of a policy that it is run under)")
ONLY_IN_A_POLICY_FILE = Wording("in the policy file", "in the file of a policy that the statement is run under")
"""Where a setting stands that no key of WITH has."""


def clear(tasks: str) -> Wording:
    """Return how failed work is done again: `clear("the task apply")`, `clear("this task")`."""
    return Wording(f"clear {tasks}", _SAY_AGAIN)


def bootstrap(policy: str) -> Wording:
    """Return how a replica that is not there, or cannot follow, is built."""
    return Wording(f"start the DAG {policy}.bootstrap", _BEGIN_ANEW)


def consolidate(policy: str) -> Wording:
    """Return how a dump is brought to one event."""
    return Wording(f"start the DAG {policy}.consolidate", _BEGIN_ANEW)


def command(*words: str) -> Wording:
    """Return a command that can be copied and run as it stands."""
    return Wording.of_command(words)


def resync(policy: str, table: str | None) -> Wording:
    """Return how one table, None for one that is not known, is brought over anew.

    The request alone changes nothing: a window has to be cut for it.
    """
    return resync_request(policy, table) + Wording("; then clear the task window with all tasks after it", "")


def resync_request(policy: str, table: str | None) -> Wording:
    """Return how one table is brought over anew where the next window is cut anyway."""
    if table is None:
        return Wording(f"twinhive resync {policy} <table>", _TWO_DUMPS)
    # What begins with a dash would be an option.
    words = ["--", policy, table] if table.startswith("-") else [policy, table]
    return Wording.of_command(["twinhive", "resync", *words], _TWO_DUMPS)


def correct(setting: Wording) -> Wording:
    """Return how a setting is corrected that a policy file has, and a key of WITH."""
    return "correct " + setting + " " + IN_THE_POLICY_FILE


def exclude(tables: str) -> Wording:
    """Return how tables are left out."""
    return Wording(f"exclude {tables} in the policy file", f"leave {tables} out of the dump")


NAME_A_BASE = "name one " + IN_THE_POLICY_FILE + " (or " + NO_EXTERNAL_TABLES + "), then " + clear("the task")
NAME_ANOTHER_BASE = "name another " + BASE_DIRECTORY + " " + IN_THE_POLICY_FILE
