"""The next steps that errors share, and the settings that they name."""

from twinhive.core.model.text import Clear, Command, Either, ResyncTable, Retry, Setting, StartDag, Text, ThePolicy

RETRIES = Retry()
BOOTSTRAP_AGAIN = StartDag("bootstrap")
RESYNC_EVERYTHING = Either(
    "ask for what differs, and for that alone, with " + Command(("twinhive", "resync", ThePolicy(), "--all")),
    BOOTSTRAP_AGAIN,
)

BASE_DIRECTORY = Setting("external_tables.base_directory", "hive.repl.replica.external.table.base.dir")
NO_EXTERNAL_TABLES = Setting("external_tables.include: false", "'hive.repl.include.external.tables'='false'")
STAGING_ROOT = Setting("staging_root", "twinhive.staging.root")
COPIES_ROOT = Setting("root", "root")
"""Of a placement, which no statement has."""
DUMP_ROOT = Setting("dump_root", "hive.repl.rootdir")
CORRECT_THE_SOURCE = Either("correct source.database in the policy file", "correct the statement")
IN_THE_POLICY_FILE = Either("in the policy file", "in WITH (or in the file of a policy that it is run under)")
ONLY_IN_A_POLICY_FILE = Either("in the policy file", "in the file of a policy that the statement is run under")
"""Where a setting stands that no key of WITH has."""


def bootstrap(policy: str) -> StartDag:
    """Return how a replica that is not there, or cannot follow, is built."""
    return StartDag("bootstrap", policy)


def consolidate(policy: str) -> StartDag:
    """Return how a dump is brought to one event."""
    return StartDag("consolidate", policy)


def command(*words: str) -> Command:
    """Return a command that can be copied and run as it stands."""
    return Command(words)


def pass_over(event_id: int) -> Text:
    """Return how the policy that meets an event leaves it out."""
    return Either("twinhive skip-event " + ThePolicy() + f" {event_id} --reason '...'", "")


def resync(policy: str, table: str | None) -> Text:
    """Return how one table, None for one that is not known, is brought over anew.

    The request alone changes nothing: a window has to be planned for it.
    """
    return ResyncTable(policy, table) + Either("; then " + Clear("the task window with all tasks after it"), "")


def correct(setting: Setting) -> Text:
    """Return how a setting is corrected that a policy file has, and a key of WITH."""
    return "correct " + setting + " " + IN_THE_POLICY_FILE


NAME_A_BASE = "name one " + IN_THE_POLICY_FILE + " (or " + NO_EXTERNAL_TABLES + "), then " + Clear("the task")
NAME_ANOTHER_BASE = "name another " + BASE_DIRECTORY + " " + IN_THE_POLICY_FILE
