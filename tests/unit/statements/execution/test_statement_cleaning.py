"""DUMP and LOAD clean up behind statements by age, and ask the clusters what is still needed."""

from dataclasses import replace

import pytest

from tests.support.builders import a_table
from tests.unit.statements.execution.speaker import Speaker
from twinhive.core.directory_marks.directories import ATTRIBUTE
from twinhive.core.model.errors import ActNow, InvalidSettings, Refused
from twinhive.core.model.objects import Database
from twinhive.core.ports import WritePorts
from twinhive.replication.dump.loader_notes import LoaderNote, loader_notes
from twinhive.statements.execution.loader_replicas import NotedReplicas
from twinhive.statements.interop.hive_dump.hive_layout import HivePlaces
from twinhive.statements.steps.abandoned_loads import StagingCleaner
from twinhive.statements.steps.load_lease import under_way_in

DUMPS = "hdfs://east/user/hive/repl/sales"
STAGING = "hdfs://west/staging"
AT_ONCE = "'hive.repl.dumpdir.ttl'='0s', 'hive.repl.include.external.tables'='false'"
FOR_HIVE = f"{AT_ONCE}, 'twinhive.dump.layout'='hive'"


def dump(speaker: Speaker, settings: str = AT_ONCE) -> str:
    ((directory, _),) = speaker.say(f"REPL DUMP sales WITH ({settings})", "east")
    return directory


def load(speaker: Speaker, directory: str, into: str = "sales") -> None:
    said = f"'twinhive.staging.root'='{STAGING}', 'hive.repl.dumpdir.ttl'='0s'"
    base = "'hive.repl.replica.external.table.base.dir'='/external'"
    speaker.say(f"REPL LOAD sales INTO {into} FROM '{directory}' WITH ({said}, {base})", "west")


def note(speaker: Speaker) -> LoaderNote:
    (found,) = loader_notes(speaker.world.source_files, DUMPS)
    return found.note


def drop(speaker: Speaker, database: str) -> None:
    """Drop a replica as its users do: replication has no call for that."""
    del speaker.world.replica._databases[database]


def is_gone(speaker: Speaker, said: LoaderNote) -> bool:
    return NotedReplicas(speaker.place()).is_gone(said)


@pytest.fixture
def loaded(speaker: Speaker) -> Speaker:
    load(speaker, dump(speaker))
    return speaker


def test_a_replica_that_is_there_is_not_gone(loaded: Speaker) -> None:
    assert not is_gone(loaded, note(loaded))


def test_a_database_that_is_dropped_is_gone(loaded: Speaker) -> None:
    drop(loaded, "sales")
    assert is_gone(loaded, note(loaded))


@pytest.mark.parametrize("other", [{"policy": "repl.west.else"}, {"log_id": "another log"}], ids=["policy", "log"])
def test_a_database_that_follows_somebody_else_now_is_gone(loaded: Speaker, other: dict[str, str]) -> None:
    assert is_gone(loaded, replace(note(loaded), **other))


def test_a_replica_of_hives_that_is_about_to_be_taken_over_is_not_gone(loaded: Speaker) -> None:
    drop(loaded, "sales")
    loaded.world.replica.create_database(Database("sales", None, None, {"repl.last.id": "7"}, thrift="{}"))
    assert not is_gone(loaded, note(loaded))


def test_a_load_that_still_copies_is_not_gone_though_there_is_no_database(loaded: Speaker) -> None:
    drop(loaded, "sales")
    said = note(loaded)
    with loaded.world.lease.hold(under_way_in(said.staging), {"run": "load"}):
        assert not is_gone(loaded, said)
    assert is_gone(loaded, said)


def test_only_a_replica_that_follows_by_our_marks_shows_how_far_it_is(loaded: Speaker) -> None:
    replicas, said, replica = NotedReplicas(loaded.place()), note(loaded), loaded.world.replica
    assert replicas.reached(said) == said.event_id > 0
    assert replicas.reached(replace(said, log_id="another log")) == 0
    parameters = dict(replica.database("sales").parameters)
    replica.set_database_parameters("sales", parameters | {"repl.last.id": "9999"})  # as Hive does
    assert replicas.reached(said) == 0
    drop(loaded, "sales")
    assert replicas.reached(said) == 0


def test_who_cannot_be_asked_for_is_not_known_to_be_gone(loaded: Speaker) -> None:
    with pytest.raises(ActNow):
        is_gone(loaded, replace(note(loaded), replica="nowhere/sales"))


def test_a_dropped_replica_keeps_no_dump_any_more(loaded: Speaker) -> None:
    loaded.users.create_table("made")
    kept = dump(loaded)
    dump(loaded)
    files = loaded.world.source_files
    assert files.status(kept)
    drop(loaded, "sales")
    newest = dump(loaded)
    ((_, children),) = files.list_directories([DUMPS])
    assert sorted(child.path for child in children or ()) == sorted([f"{DUMPS}/_loaders", newest])
    assert loader_notes(files, DUMPS) == []


def test_a_plan_of_a_dump_names_what_would_be_removed_and_nothing_is(loaded: Speaker) -> None:
    files = loaded.world.source_files
    old = dump(loaded)
    drop(loaded, "sales")
    files.put(f"{DUMPS}/orders/part-0", b"somebody's rows")
    before = files.paths()
    planned = loaded.plan(f"REPL DUMP sales WITH ({AT_ONCE})", "east")
    removed = [line.rpartition(": ")[2] for line in planned if line.startswith("would be removed")]
    assert old in removed and f"{DUMPS}/orders" not in removed
    assert files.paths() == before
    dump(loaded)
    assert not any(map(files.status, removed)) and files.read(f"{DUMPS}/orders/part-0") == b"somebody's rows"
    keeping = loaded.plan(f"REPL DUMP sales WITH ({AT_ONCE}, 'hive.repl.retain.prev.dump.dir'='true')", "east")
    assert not [line for line in keeping if line.startswith("would be removed")]


def test_a_plan_of_a_load_names_the_staging_that_would_be_removed(speaker: Speaker) -> None:
    files = speaker.world.replica_files
    given_up = f"{STAGING}/repl.west.given_up"
    files.put(f"{given_up}/under-way/lease-0000000001", b"{}")
    files.set_attribute(given_up, ATTRIBUTE, "staging:repl.west.given_up")
    directory = dump(speaker)
    said = f"'twinhive.staging.root'='{STAGING}', 'hive.repl.dumpdir.ttl'='0s'"
    base = "'hive.repl.replica.external.table.base.dir'='/external'"
    planned = speaker.plan(f"REPL LOAD sales FROM '{directory}' WITH ({said}, {base})", "west")
    assert planned[-1] == f"would be removed, to the trash where one is kept: {given_up}"
    assert files.status(given_up)


def test_a_root_around_a_table_is_refused_by_the_plan_and_by_the_dump(speaker: Speaker) -> None:
    files = speaker.world.source_files
    location = "hdfs://east/data/sales/orders2"
    files.put(f"{location}/part-0", b"a year of rows")
    speaker.world.source.create_table(a_table("sales.orders2", table_type="EXTERNAL_TABLE", location=location))
    text = f"REPL DUMP sales WITH ('hive.repl.rootdir'='/data', {AT_ONCE})"
    for do in (speaker.plan, speaker.say):
        with pytest.raises(InvalidSettings, match="is not apart from what tables and databases use"):
            do(text, "east")
    assert files.read(f"{location}/part-0") == b"a year of rows"


def test_a_load_removes_what_given_up_loads_beside_it_have_staged(speaker: Speaker) -> None:
    files = speaker.world.replica_files
    for name in ("repl.west.given_up", "repl.west.twin", "sales"):
        files.put(f"{STAGING}/{name}/events/000000000001/file", b"was staged")
        files.put(f"{STAGING}/{name}/under-way/lease-0000000001", b"{}")
        files.set_attribute(f"{STAGING}/{name}", ATTRIBUTE, f"staging:{name}")
    directory = dump(speaker)
    load(speaker, directory, "twin")
    load(speaker, directory)
    ((_, children),) = files.list_directories([STAGING])
    assert "given_up" not in str(children)
    assert files.status(f"{STAGING}/repl.west.twin")
    assert files.status(f"{STAGING}/sales/events/000000000001/file")


@pytest.fixture
def sayable(speaker: Speaker) -> Speaker:
    # A name that Hive's layout cannot say.
    speaker.users.drop_partitions("orders", [("50%=#:ü",)])
    return speaker


def test_a_dump_for_hive_is_kept_until_it_or_a_later_one_is_marked_as_loaded(sayable: Speaker) -> None:
    files = sayable.world.source_files
    first = dump(sayable, FOR_HIVE)
    second = dump(sayable, FOR_HIVE)
    assert files.status(first)
    assert sum("nobody has marked it as loaded" in line for line in sayable.log) == 1
    files.write(HivePlaces.below(second).loaded, b"")
    dump(sayable, f"{FOR_HIVE}, 'hive.repl.retain.prev.dump.dir'='true'")
    assert files.status(first) and files.status(second)
    third = dump(sayable)
    assert files.status(third) and not files.status(first) and not files.status(second)


def test_a_dump_for_hive_that_the_trash_refuses_keeps_no_other(sayable: Speaker) -> None:
    files = sayable.world.source_files
    dumps = [dump(sayable, f"{FOR_HIVE}, 'hive.repl.retain.prev.dump.dir'='true'") for _ in range(3)]
    files.write(HivePlaces.below(dumps[-1]).loaded, b"")
    to_trash = files.to_trash

    def refuse_one(path: str) -> bool:
        if path == dumps[0]:
            raise Refused(f"{path}: quota of the trash")
        return to_trash(path)

    files.to_trash = refuse_one
    dump(sayable)
    assert [files.status(directory) is not None for directory in dumps] == [True, False, False]
    assert any("quota of the trash" in line for line in sayable.log)


def test_a_load_of_a_dump_for_hive_is_a_mark_too_and_leaves_nothing_of_what_it_took_over(sayable: Speaker) -> None:
    directory = dump(sayable, FOR_HIVE)
    staging = f"{STAGING}/repl.west.sales"
    sayable.world.replica_files.put(f"{staging}/hive-dumps/{'0' * 16}/repl.json")
    sayable.world.replica_files.set_attribute(staging, ATTRIBUTE, "staging:repl.west.sales")
    load(sayable, directory)
    assert not [path for path in sayable.world.replica_files.paths() if "hive-dumps" in path]
    dump(sayable, FOR_HIVE)
    assert not sayable.world.source_files.status(directory)


def test_a_load_is_under_way_while_it_takes_over_what_hive_has_dumped(sayable: Speaker) -> None:
    directory, files, held = dump(sayable, FOR_HIVE), sayable.world.replica_files, []
    write = files.write

    def watched(path: str, content: bytes) -> None:
        if path.endswith("/repl.json"):
            held.append(sayable.world.lease.is_held(under_way_in(f"{STAGING}/repl.west.sales")))
        write(path, content)

    files.write = watched
    load(sayable, directory)
    assert held == [True]


def test_a_dump_is_told_of_though_what_is_old_cannot_be_cleaned(loaded: Speaker) -> None:
    loaded.world.source_files.put(f"{DUMPS}/_loaders/west.other.json", b"{}")
    directory = dump(loaded)
    assert loaded.world.source_files.status(f"{directory}/repl.json")
    assert any("old dumps were not cleaned" in line for line in loaded.log)


def test_a_load_ends_well_though_staging_cannot_be_cleaned(speaker: Speaker, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(cleaner: StagingCleaner, ports: WritePorts) -> list[str]:
        raise Refused("the staging root cannot be listed")

    monkeypatch.setattr(StagingCleaner, "run", refuse)
    load(speaker, dump(speaker))
    assert speaker.say("REPL STATUS sales", "west")
    assert any("old staging directories were not cleaned" in line for line in speaker.log)
