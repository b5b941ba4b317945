"""A window is of the policy's own tables: a replica that a statement has brought to others is changed by none."""

from typing import Any

import pytest

from tests.support.builders import a_policy
from tests.unit.replication.incremental.test_incremental import Followed
from twinhive.core.model.errors import ActNow
from twinhive.core.model.marks import SCOPE, SCOPE_BEFORE
from twinhive.core.model.text import Reader
from twinhive.core.step.step_base import Work
from twinhive.runtime.pipeline.phases import APPLY, INCREMENTAL

STAGES = {stage.name: stage for stage in INCREMENTAL}


def marked(followed: Followed, scope: str, before: str | None = None) -> None:
    database = followed.world.replica.database("sales")
    assert database is not None
    marks = {SCOPE: scope} | ({} if before is None else {SCOPE_BEFORE: before})
    followed.world.replica.set_database_parameters("sales", {**database.parameters, **marks})


def state(followed: Followed) -> Any:
    world = followed.world
    tables = world.replica.tables("sales", world.replica.table_names("sales"))
    return world.replica.database("sales"), tables, world.replica_files.paths(), world.source_files.paths()


def refused(followed: Followed, scope: str) -> ActNow:
    before = state(followed)
    with pytest.raises(ActNow, match="was loaded with another scope than the policy's tables") as caught:
        followed.follow()
    assert state(followed) == before
    assert caught.value.found == f"twinhive.scope = {scope}"
    return caught.value


@pytest.mark.parametrize("scope", ["sales.['plain']", "sales.['.*'].['plain']", "sales.[]"])
def test_a_replica_of_another_scope_is_not_changed(scope: str) -> None:
    followed = Followed()
    followed.users.insert("plain", None, [b"more"])
    marked(followed, scope)
    error = refused(followed, scope)
    position = followed.world.replica.database("sales").parameters["repl.last.id"]
    (command,) = error.commands
    assert command.startswith("twinhive sql 'REPL DUMP sales REPLACE ")
    assert command.endswith(f" FROM {position}' --policy sales")
    assert "start the DAG sales.bootstrap with again=true" in str(error)
    error.reader = Reader.TERMINAL
    assert "twinhive run sales bootstrap --again" in str(error)


def test_from_the_scope_of_another_database_no_statement_leads_back() -> None:
    followed = Followed()
    marked(followed, "other.['plain']")
    assert refused(followed, "other.['plain']").commands == ()


@pytest.mark.parametrize(
    ("before", "statement"),
    [("sales.['plain']", "REPL DUMP sales REPLACE sales.["), ("*", "")],
    ids=["of ours", "of a dump of Hive's, which does not say it"],
)
def test_between_two_scopes_it_is_not_changed_though_the_new_one_is_its_own(before: str, statement: str) -> None:
    followed = Followed()
    followed.users.insert("plain", None, [b"more"])
    marked(followed, "sales", before)
    unchanged = state(followed)
    with pytest.raises(ActNow, match="is between two scopes: a REPL LOAD has not ended") as caught:
        followed.follow()
    assert state(followed) == unchanged
    assert caught.value.found == f"twinhive.scope = sales; twinhive.scope.before = {before}"
    assert [statement in command for command in caught.value.commands] == ([True] if statement else [])


def test_also_where_there_is_nothing_to_apply() -> None:
    followed = Followed()
    marked(followed, "sales.['plain']")
    refused(followed, "sales.['plain']")


def test_a_window_that_was_cut_before_is_not_applied() -> None:
    followed = Followed()
    followed.users.insert("plain", None, [b"more"])
    followed.run_with(followed.world.ports(), (STAGES["window"], STAGES["copy"]))
    marked(followed, "sales.['plain']")
    before = state(followed)
    with pytest.raises(ActNow, match="with another scope"):
        APPLY(Work(followed.policy)).run(followed.world.ports())
    assert state(followed) == before
    marked(followed, "sales")
    APPLY(Work(followed.policy)).run(followed.world.ports())
    followed.assert_twin()


@pytest.mark.parametrize(
    ("include", "exclude", "scope"),
    [
        ((".*?",), (), "sales"),
        (("EMPTY", "plain", "plain"), (), "sales.['empty', 'plain']"),
        ((".*",), ("T3", "q5"), "sales.['.*'].['q5', 't3']"),
    ],
)
def test_its_own_scope_however_the_file_writes_it_is_no_other(
    include: tuple[str, ...], exclude: tuple[str, ...], scope: str
) -> None:
    followed = Followed(a_policy(include=include, exclude=exclude))
    marked(followed, scope)
    followed.users.insert("plain", None, [b"more"])
    followed.follow()
    parameters = followed.world.replica.database("sales").parameters
    assert int(parameters["repl.last.id"]) == followed.world.source.current_event_id()
    assert parameters[SCOPE] == scope
