"""REPL DUMP returns a directory of its own below the root, and the event that a replica is at when it has loaded it."""

import json

from tests.unit.statements.execution.speaker import Speaker


def test_a_dump_returns_its_directory_and_its_last_event_under_hives_names(speaker: Speaker) -> None:
    directory, event_id = speaker.dump()
    assert directory.startswith("hdfs://east/user/hive/repl/sales/")
    assert event_id == speaker.world.source.current_event_id()


def test_two_dumps_of_the_same_state_never_share_a_directory_and_both_can_be_loaded(speaker: Speaker) -> None:
    (one, event_id), (other, _) = speaker.dump(), speaker.dump()
    assert one != other
    speaker.say(f"REPL LOAD FROM '{one}'", "west")
    speaker.say(f"REPL LOAD sales INTO twin FROM '{other}'", "west")
    assert speaker.say("REPL STATUS sales", "west") == speaker.say("REPL STATUS twin", "west") == [(event_id,)]


def test_a_dump_remembers_its_statement_and_its_cluster(speaker: Speaker) -> None:
    directory, _ = speaker.dump("REPL DUMP Sales.['T3','[a-z]+']")
    said = json.loads(speaker.world.source_files.read(f"{directory}/repl.json"))
    assert said["statement"] == f"REPL DUMP sales.['[a-z]+', 't3'] {speaker.without_external}"
    assert said["cluster"] == "east"


def test_to_beyond_the_newest_event_ends_at_that(speaker: Speaker) -> None:
    _, newest = speaker.dump()
    speaker.users.create_table("made")
    directory, event_id = speaker.dump(f"REPL DUMP sales FROM {newest} TO 9999")
    assert event_id == speaker.world.source.current_event_id() < 9999
    assert any("TO 9999 is newer than the newest event" in line for line in speaker.log)
    assert directory


def test_a_dump_marks_the_source_so_that_its_change_manager_keeps_files(speaker: Speaker) -> None:
    speaker.dump()
    assert speaker.world.source.database("sales").parameters["repl.source.for"] == "repl.sales"


def test_old_dumps_are_cleaned_with_the_next_dump_which_stays_itself(speaker: Speaker) -> None:
    old, _ = speaker.dump()
    at_once = f"{speaker.without_external[:-1]}, 'hive.repl.dumpdir.ttl'='0s'"
    ((kept, _),) = speaker.say(f"REPL DUMP sales {at_once}, 'hive.repl.retain.prev.dump.dir'='true')", "east")
    assert speaker.world.source_files.status(old)
    ((new, _),) = speaker.say(f"REPL DUMP sales {at_once})", "east")
    files = speaker.world.source_files
    assert [one for one in (old, kept, new) if files.status(one)] == [new]
