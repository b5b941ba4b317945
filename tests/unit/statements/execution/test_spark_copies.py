"""What is much in a load is given to Spark, whose end decides. A small program stands for spark-submit."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.fake_spark_submit import Submit
from tests.support.policy_terminal import Terminal, a_terminal
from tests.support.worlds.statements_in_memory import let_statements_reach
from tests.unit.statements.execution.speaker import Speaker
from twinhive.core.model.errors import ActNow, TryAgain, TwinhiveError
from twinhive.core.model.policy import Options
from twinhive.runtime.spark.cluster import SparkCluster
from twinhive.statements.execution import run_statement

ALL_BY_SPARK = (
    "WITH ('hive.exec.copyfile.maxnumfiles'='0', 'hive.exec.copyfile.maxsize'='0', 'twinhive.bandwidth.mb'='6')"
)
Load = Callable[[str], None]


@pytest.fixture
def submit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Submit:
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    return Submit(tmp_path)


@pytest.fixture
def load(speaker: Speaker, submit: Submit) -> Load:
    def spark(name: str, options: Options) -> SparkCluster:
        assert name == "west", "the cluster that loads"
        return SparkCluster("yarn", 3, {})

    def loaded(keys: str) -> None:
        place = replace(speaker.place("west"), spark=spark)
        text = f"REPL LOAD FROM '{directory}' {keys}"
        run_statement(text, place, {"run": "test"}, speaker.log.append)

    directory, _ = speaker.dump()
    return loaded


def test_little_is_copied_without_looking_for_spark(speaker: Speaker, submit: Submit, load: Load) -> None:
    load("")
    assert not submit.was_called()
    assert speaker.say("REPL STATUS sales", "west")


def test_spark_is_told_what_to_copy_and_how(submit: Submit, load: Load) -> None:
    submit.tell(code=3)
    with pytest.raises(TryAgain):
        load(ALL_BY_SPARK)
    settings = submit.settings()
    listed = settings["what"]
    assert listed["job"]["staging"] == "hdfs://west/twinhive/staging/repl.west.sales"
    assert (settings["tasks"], settings["bytes_per_second"], listed["lost_ok"]) == (3, 2_000_000, False)
    sides = (settings["source"], settings["target"], listed["dump"])
    assert [side["root"] for side in sides] == ["hdfs://east", "hdfs://west", "hdfs://east"]


def test_what_spark_cannot_copy_is_looked_for_by_the_statement(speaker: Speaker, submit: Submit, load: Load) -> None:
    submit.tell(code=4, says="copy_files: 0 of 5 files copied")
    load(ALL_BY_SPARK)
    assert any("could not copy is looked at once more" in line for line in speaker.log)
    assert speaker.say("REPL STATUS sales", "west")


@pytest.mark.parametrize(
    ("code", "family", "next_step"), [(5, ActNow, "without Spark"), (3, TryAgain, "run the statement again")]
)
def test_a_spark_that_does_not_come_to_its_end_copies_nothing_here(
    speaker: Speaker, submit: Submit, load: Load, code: int, family: type[TwinhiveError], next_step: str
) -> None:
    submit.tell(code=code)
    with pytest.raises(family) as caught:
        load(ALL_BY_SPARK)
    assert next_step in str(caught.value)
    assert not speaker.say("REPL STATUS sales", "west")
    submit.tell(code=4)
    load(ALL_BY_SPARK)
    assert speaker.say("REPL STATUS sales", "west")


@pytest.fixture
def terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    made = a_terminal(tmp_path, monkeypatch)
    let_statements_reach(lambda: made.world, monkeypatch)
    options = {"spark_tasks": 3, "spark_conf": {"spark.executor.memory": "2g"}}
    made.policies.add("sales", external_tables={"include": False}, options=options)
    made.type("sql", "REPL DUMP sales", "--policy", "sales")
    return made


@pytest.mark.parametrize(
    ("keys", "words", "tasks", "memory"),
    [
        ("", (), 3, "2g"),
        (", 'twinhive.spark.tasks'='5'", (), 5, "2g"),
        (", 'twinhive.spark.tasks'='5'", ("--tasks", "7", "--spark-conf", "spark.executor.memory=4g"), 7, "4g"),
    ],
    ids=["policy", "WITH", "option"],
)
def test_a_terminal_says_which_spark_and_the_policy_or_with_how_much_of_it(
    terminal: Terminal, submit: Submit, keys: str, words: tuple[str, ...], tasks: int, memory: str
) -> None:
    submit.tell(code=4)
    root = "'hive.repl.rootdir'='hdfs://east/user/hive/repl', 'hive.exec.copyfile.maxnumfiles'='0'"
    terminal.type("sql", f"REPL LOAD sales WITH ({root}{keys})", "--policy", "sales", "--spark", "yarn", *words)
    assert submit.settings()["tasks"] == tasks
    assert f"spark.executor.memory={memory}" in submit.given()["words"]


def test_a_wrong_spark_is_told_before_anything_is_done(terminal: Terminal, submit: Submit) -> None:
    said = terminal.type("sql", "REPL LOAD sales", "--policy", "sales", "--spark", "yarn", "--tasks", "0", code=4)
    assert "--tasks: not a number of tasks" in said
    assert terminal.document("sql", "REPL STATUS sales", "--policy", "sales")["rows"] == []
