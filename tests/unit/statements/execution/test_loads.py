"""REPL LOAD finds its dump and its database, and goes on as the policy says under which it is said."""

import pytest

from tests.unit.statements.execution.speaker import Speaker
from twinhive.core.model.errors import ActNow, AlreadyThere, Foreign, InvalidSettings, Missing, TwinhiveError
from twinhive.core.model.objects import Database


def databases(speaker: Speaker) -> list[str]:
    return [name for name in ("sales", "twin", "other") if speaker.world.replica.database(name)]


def test_a_load_that_names_a_directory_alone_loads_into_the_database_that_was_dumped(speaker: Speaker) -> None:
    directory, event_id = speaker.dump()
    assert speaker.say(f"REPL LOAD FROM '{directory}'", "west") == []
    assert databases(speaker) == ["sales"]
    assert speaker.say("REPL STATUS sales", "west") == [(event_id,)]


@pytest.mark.parametrize("statement", ["REPL LOAD twin FROM '{}'", "REPL LOAD sales INTO twin FROM '{}'"])
def test_a_load_into_another_database_says_its_name_in_the_seeds_way_or_in_hive_4s(
    speaker: Speaker, statement: str
) -> None:
    directory, _ = speaker.dump()
    speaker.say(statement.format(directory), "west")
    assert databases(speaker) == ["twin"]


def test_a_load_that_names_no_directory_takes_the_newest_dump_that_is_finished(
    speaker: Speaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    roots = "WITH ('hive.repl.rootdir'='hdfs://east/user/hive/repl')"
    speaker.dump()
    speaker.say(f"REPL LOAD sales {roots}", "west")
    speaker.users.create_table("made")
    monkeypatch.setattr("twinhive.statements.steps.repl_dump.time.time", lambda: 9e9)
    directory, event_id = speaker.dump(f"REPL DUMP sales FROM {speaker.say('REPL STATUS sales', 'west')[0][0]}")
    speaker.world.source_files.put(f"{directory}x/dump.json", b"was cut off")
    speaker.say(f"REPL LOAD sales {roots}", "west")
    assert speaker.say("REPL STATUS sales", "west") == [(event_id,)]


def test_a_load_that_names_neither_is_no_statement(speaker: Speaker) -> None:
    with pytest.raises(InvalidSettings, match="the statement is wrong in line 1"):
        speaker.say("REPL LOAD", "west")


def test_a_load_without_a_directory_and_without_a_dump_says_where_it_looked(speaker: Speaker) -> None:
    with pytest.raises(Missing, match="no dump of database sales") as caught:
        speaker.say("REPL LOAD sales", "west")
    assert caught.value.found == "no finished dump in hdfs://west/user/hive/repl/sales"


def test_a_load_of_another_database_than_the_dumps_is_refused(speaker: Speaker) -> None:
    directory, _ = speaker.dump()
    with pytest.raises(InvalidSettings, match="is of another database") as caught:
        speaker.say(f"REPL LOAD other INTO twin FROM '{directory}'", "west")
    assert (caught.value.found, caught.value.expected) == ("sales", "other")
    assert f"REPL LOAD sales INTO twin FROM '{directory}'" in str(caught.value.next_step)
    assert databases(speaker) == []


def test_a_replica_of_a_policy_is_loaded_under_that_policy_alone(speaker: Speaker) -> None:
    speaker.policies.add("sales", external_tables={"include": False})
    directory, first = speaker.dump()
    speaker.say(f"REPL LOAD FROM '{directory}'", policy="sales")
    assert speaker.world.replica.database("sales").parameters["twinhive.policy"] == "sales"
    speaker.users.create_table("made")
    directory, second = speaker.dump(f"REPL DUMP sales FROM {first}")
    with pytest.raises(Foreign, match="no replica that this statement can load") as caught:
        speaker.say(f"REPL LOAD FROM '{directory}'", "west")
    assert str(caught.value.next_step).startswith("say it under policy sales, ")
    speaker.say(f"REPL LOAD FROM '{directory}'", policy="sales")
    assert speaker.say("REPL STATUS sales", "west") == [(second,)]


def test_a_replica_of_statements_is_not_loaded_under_a_policy(speaker: Speaker) -> None:
    speaker.policies.add("sales", external_tables={"include": False})
    directory, first = speaker.dump()
    speaker.say(f"REPL LOAD FROM '{directory}'", "west")
    speaker.users.create_table("made")
    directory, _ = speaker.dump(f"REPL DUMP sales FROM {first}")
    with pytest.raises(Foreign) as caught:
        speaker.say(f"REPL LOAD FROM '{directory}'", policy="sales")
    assert str(caught.value.next_step).startswith("say it without a policy, ")


def test_a_database_that_no_replication_made_is_not_loaded_over(speaker: Speaker) -> None:
    speaker.world.replica.create_database(Database("sales", None, None, {"made.by": "ann"}, thrift="{}"))
    directory, _ = speaker.dump()
    with pytest.raises(Foreign) as caught:
        speaker.say(f"REPL LOAD FROM '{directory}'", "west")
    assert caught.value.found == "no mark of any policy"
    assert str(caught.value.next_step).startswith("load into another database (REPL LOAD sales INTO ...)")


def test_a_plan_of_a_load_says_what_would_happen_and_does_not_do_it(speaker: Speaker) -> None:
    directory, event_id = speaker.dump()
    text = f"REPL LOAD FROM '{directory}'"
    assert f"would load the dump of east/sales at event {event_id} into west/sales" in speaker.plan(text, "west")[1]
    assert databases(speaker) == []
    speaker.say(text, "west")
    assert speaker.plan(text, "west")[1].startswith("already loaded")
    other, _ = speaker.dump()
    with pytest.raises(AlreadyThere):
        speaker.plan(f"REPL LOAD FROM '{other}'", "west")


def test_a_plan_of_a_dump_says_what_would_be_in_it(speaker: Speaker) -> None:
    speaker.policies.add("sales")
    before = speaker.world.source_files.paths()
    assert "4 tables, 1 views" in speaker.plan(f"REPL DUMP sales {speaker.without_external}", "east")
    newest = speaker.world.source.current_event_id()
    speaker.users.create_table("q5")
    lines = speaker.plan(f"REPL DUMP sales REPLACE sales.['p.*'] FROM {newest} {speaker.without_external}", "east")
    assert any(line.startswith("1 events of this scope, up to event") for line in lines)
    assert "dumped whole: q5" in lines
    with pytest.raises(InvalidSettings, match="REPLACE brings tables"):
        speaker.plan(f"REPL DUMP sales REPLACE sales.['p.*'] FROM {newest} LIMIT 5", "east")
    assert speaker.world.source_files.paths() == before


def test_what_a_dump_and_a_load_say_of_the_base_directory_has_to_be_the_same(speaker: Speaker) -> None:
    base = "'hive.repl.replica.external.table.base.dir'"
    ((directory, _),) = speaker.say(f"REPL DUMP sales WITH ({base}='/one')", "east")
    with pytest.raises(InvalidSettings, match="name different base directories") as caught:
        speaker.say(f"REPL LOAD FROM '{directory}' WITH ({base}='/other')", "west")
    assert (caught.value.found, caught.value.expected) == ("hdfs://west/other", "hdfs://west/one")


def test_external_tables_without_a_base_directory_are_an_error_that_names_the_key_of_with(speaker: Speaker) -> None:
    ((directory, _),) = speaker.say("REPL DUMP sales", "east")
    with pytest.raises(ActNow) as caught:
        speaker.say(f"REPL LOAD FROM '{directory}'", "west")
    _says_nothing_of_tasks(caught.value)
    assert "hive.repl.replica.external.table.base.dir" in str(caught.value)
    assert databases(speaker) == []


def test_a_lost_file_is_named_and_the_way_out_is_said_in_statements(speaker: Speaker) -> None:
    directory, _ = speaker.dump()
    (plain,) = speaker.world.source.tables("sales", ["plain"])
    speaker.world.source_files.put(f"{plain.location}/data", b"PLAIN")
    with pytest.raises(ActNow) as caught:
        speaker.say(f"REPL LOAD FROM '{directory}'", "west")
    _says_nothing_of_tasks(caught.value)
    assert "dump and load the whole database" in str(caught.value.words.next_step)
    assert databases(speaker) == []


def _says_nothing_of_tasks(error: TwinhiveError) -> None:
    assert not any(word in str(error) for word in ("clear ", "task", "DAG", "resync"))
