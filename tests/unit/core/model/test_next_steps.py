"""Every way out can be gone by those who have a policy's DAGs, and by those who say statements."""

import inspect
import pickle
import re
import subprocess

import pytest

from twinhive.core.model import next_steps as ways
from twinhive.core.model.errors import ActNow, about, together
from twinhive.core.model.text import (
    Clear,
    Exclude,
    Phrase,
    Reader,
    ResyncTable,
    Text,
    commands_of,
    render,
)
from twinhive.runtime.settings.hive_key_table import KEYS

AGAIN = "run the statement again"
ANEW = "drop the replica, then dump and load the whole database"
TWO_DUMPS = "two more dumps, one that leaves the table out (REPLACE) and one that takes it in again"
WITH = "in WITH (or in the file of a policy that it is run under)"
BASE = "hive.repl.replica.external.table.base.dir"

SAID = [
    (ways.RETRIES, "the task retries by itself", AGAIN),
    (ways.BOOTSTRAP_AGAIN, "start the DAG <policy>.bootstrap with again=true", ANEW),
    (
        ways.RESYNC_EVERYTHING,
        "ask for what differs, and for that alone, with twinhive resync <policy> --all",
        ANEW,
    ),
    (ways.pass_over(7), "twinhive skip-event <policy> 7 --reason '...'", ""),
    (Clear("the task apply"), "clear the task apply", AGAIN),
    (Clear("the copy tasks with all after them"), "clear the copy tasks with all after them", AGAIN),
    (ways.bootstrap("sales"), "start the DAG sales.bootstrap", ANEW),
    (ways.consolidate("sales"), "start the DAG sales.consolidate", ANEW),
    (ResyncTable("sales", "t"), "twinhive resync sales t", TWO_DUMPS),
    (
        ways.resync("sales", "t"),
        "twinhive resync sales t; then clear the task window with all tasks after it",
        TWO_DUMPS,
    ),
    (ResyncTable("sales", None), "twinhive resync sales <table>", TWO_DUMPS),
    (ways.command("twinhive", "status", "sales"), "twinhive status sales", "twinhive status sales"),
    (Exclude("t"), "exclude t in the policy file", "leave t out of the dump"),
    (ways.BASE_DIRECTORY, "external_tables.base_directory", BASE),
    (ways.NO_EXTERNAL_TABLES, "external_tables.include: false", "'hive.repl.include.external.tables'='false'"),
    (ways.STAGING_ROOT, "staging_root", "twinhive.staging.root"),
    (ways.DUMP_ROOT, "dump_root", "hive.repl.rootdir"),
    (ways.COPIES_ROOT, "root", "root"),  # of a placement, which no statement has
    (ways.IN_THE_POLICY_FILE, "in the policy file", WITH),
    (ways.ONLY_IN_A_POLICY_FILE, "in the policy file", "in the file of a policy that the statement is run under"),
    (ways.CORRECT_THE_SOURCE, "correct source.database in the policy file", "correct the statement"),
    (
        ways.correct(ways.STAGING_ROOT),
        "correct staging_root in the policy file",
        f"correct twinhive.staging.root {WITH}",
    ),
    (
        ways.NAME_A_BASE,
        "name one in the policy file (or external_tables.include: false), then clear the task",
        f"name one {WITH} (or 'hive.repl.include.external.tables'='false'), then {AGAIN}",
    ),
    (
        ways.NAME_ANOTHER_BASE,
        "name another external_tables.base_directory in the policy file",
        f"name another {BASE} {WITH}",
    ),
]


@pytest.mark.parametrize(("way", "for_tasks", "for_statements"), SAID, ids=[render(one[0]) for one in SAID])
def test_a_way_out_is_said_in_both_ways(way: Text, for_tasks: str, for_statements: str) -> None:
    assert (render(way), render(way, Reader.STATEMENTS)) == (for_tasks, for_statements)


def test_no_way_out_is_left_out_here() -> None:
    constants = [way for name, way in vars(ways).items() if name[0].isupper() and isinstance(way, Phrase)]
    assert len(constants) > 8
    assert set(constants) <= {way for way, _, _ in SAID}
    functions = {name for name, way in vars(ways).items() if inspect.isfunction(way)}
    assert functions == {
        *("bootstrap", "command", "consolidate", "correct", "pass_over", "resync"),
    }


def test_keys_of_with_exist() -> None:
    named = {name for _, _, said in SAID for name in re.findall(r"(?:hive|twinhive)\.[a-z.]+[a-z]", said)}
    assert len(named) >= 4
    assert named <= KEYS.keys()


# Printed by a shell for each word that a command has, after its name.
_SHOW = "twinhive() { for word; do printf '<%s>' \"$word\"; done; }; "


@pytest.mark.parametrize(
    "table",
    [
        "orders",
        "x|sh",
        "x & rm -rf ~",
        "a$(id)b",
        "x`id`",
        "two words",
        "it's",
        "-f",
        "a>b",
        "täglich",
        "*",
        "#a",
        "!!",
        "a\\b",
    ],
)
def test_a_shell_takes_a_command_as_it_was_meant(table: str) -> None:
    [command] = commands_of(ways.resync("sales", table))
    assert command in render(ways.resync("sales", table))
    shown = subprocess.run(["sh", "-c", _SHOW + command], capture_output=True, text=True, check=True).stdout
    assert shown.replace("<-->", "") == f"<resync><sales><{table}>"


@pytest.mark.parametrize("table", ["a\nid", "a\x1b]0;x\x07", "a\u202eb", None])
def test_what_is_no_command_to_run_is_not_offered(table: str | None) -> None:
    assert commands_of(ways.resync("sales", table)) == ()


def test_commands_are_carried_by_what_they_are_put_into() -> None:
    error = ActNow("it is wrong", next_step="bring it over with: " + ways.resync("sales", "it's") + "; it helps")
    assert error.commands == ("twinhive resync sales 'it'\"'\"'s'",)
    assert pickle.loads(pickle.dumps(error)).commands == error.commands
    other = ActNow("wrong, too", next_step="look: " + ways.command("twinhive", "status", "sales"))
    assert together([error, other], "two things").commands == (*error.commands, "twinhive status sales")
    assert ActNow("wrong", next_step="twinhive resync sales <table>").commands == ()


def test_the_policy_is_named_where_it_is_known_and_its_command_can_be_run_then() -> None:
    with pytest.raises(ActNow) as caught, about("sales"), about("others"):
        raise ActNow("a gap", next_step=ways.RESYNC_EVERYTHING)
    assert caught.value.words.next_step == render(ways.RESYNC_EVERYTHING).replace("<policy>", "others")
    assert caught.value.commands == ("twinhive resync others --all",)
    assert ActNow("a gap", next_step=ways.RESYNC_EVERYTHING).commands == ()
