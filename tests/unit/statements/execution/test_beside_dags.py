"""A replica that statements made under a policy is the policy's: its DAGs and statements take turns."""

from pathlib import Path

import pytest

from tests.support.policy_terminal import Terminal, a_terminal
from tests.support.worlds.memory_comparison import contents
from tests.support.worlds.statements_in_memory import let_statements_reach


@pytest.fixture
def terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    terminal = a_terminal(tmp_path, monkeypatch)
    let_statements_reach(lambda: terminal.world, monkeypatch)
    terminal.policies.add("sales", external_tables={"include": False})
    return terminal


def assert_equal(terminal: Terminal) -> None:
    world = terminal.world
    assert contents(world.replica, world.replica_files) == contents(world.source, world.source_files)


def test_what_statements_have_loaded_the_dags_follow_and_statements_again(terminal: Terminal) -> None:
    terminal.type("sql", "REPL DUMP sales", "--policy", "sales")
    root = "WITH ('hive.repl.rootdir'='hdfs://east/user/hive/repl')"
    terminal.type("sql", f"REPL LOAD sales {root}", "--policy", "sales")
    terminal.users.create_table("made", files=[b"one"])
    terminal.type("run", "sales", "incremental")
    assert_equal(terminal)
    (position,) = terminal.document("sql", "REPL STATUS sales", "--policy", "sales")["rows"][0]
    assert position == terminal.world.source.current_event_id()
    terminal.users.insert("made", None, [b"two"])
    directory, event_id = terminal.document("sql", f"REPL DUMP sales FROM {position}", "--policy", "sales")["rows"][0]
    terminal.type("sql", f"REPL LOAD FROM '{directory}'", "--policy", "sales")
    assert_equal(terminal)
    terminal.users.drop_table("made")
    terminal.type("run", "sales", "incremental")
    assert_equal(terminal)
    assert terminal.document("sql", "REPL STATUS sales", "--policy", "sales")["rows"][0][0] > event_id


def test_what_dags_have_bootstrapped_statements_follow(terminal: Terminal) -> None:
    terminal.type("run", "sales", "bootstrap")
    (position,) = terminal.document("sql", "REPL STATUS sales", "--policy", "sales")["rows"][0]
    terminal.users.create_table("made", files=[b"one"])
    directory, _ = terminal.document("sql", f"REPL DUMP sales FROM {position}", "--policy", "sales")["rows"][0]
    terminal.type("sql", f"REPL LOAD FROM '{directory}'", "--policy", "sales")
    assert_equal(terminal)


def test_a_dry_run_in_a_terminal_says_what_would_be_done(terminal: Terminal) -> None:
    said = terminal.type("sql", "REPL DUMP sales", "--policy", "sales", "--dry-run")
    assert said.startswith("REPL DUMP sales\nwould dump east/sales") and said.endswith("nothing was changed\n")
    assert not [path for path in terminal.world.source_files.paths() if path.endswith("repl.json")]
    document = terminal.document("sql", "REPL STATUS sales", "--policy", "sales", "--dry-run")
    assert document == {"dry_run": True, "said": ["REPL STATUS sales", "no replication knows this database"]}
    error = terminal.document("sql", "REPL LOAD sales FROM '/nowhere'", "--policy", "sales", "--dry-run", code=4)
    assert "/nowhere" in str(error)


def test_dumps_that_the_dags_have_made_needless_are_cleaned(terminal: Terminal) -> None:
    directory, position = terminal.document("sql", "REPL DUMP sales", "--policy", "sales")["rows"][0]
    terminal.type("sql", f"REPL LOAD sales FROM '{directory}'", "--policy", "sales")
    files, at_once = terminal.world.source_files, "WITH ('hive.repl.dumpdir.ttl'='0s')"
    terminal.users.create_table("made", files=[b"one"])
    needed, _ = terminal.document("sql", f"REPL DUMP sales FROM {position}", "--policy", "sales")["rows"][0]
    terminal.type("sql", f"REPL DUMP sales {at_once}", "--policy", "sales")
    assert files.status(needed)
    terminal.type("run", "sales", "incremental")
    terminal.type("sql", f"REPL DUMP sales {at_once}", "--policy", "sales")
    assert not files.status(needed)
