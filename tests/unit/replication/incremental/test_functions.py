"""Functions come with their files; one whose files cannot be had is left out and said, and stops nothing."""

from contextlib import suppress

import pytest

from tests.support.builders import a_policy
from tests.support.users.source_writer import SourceWriter
from tests.support.worlds.fake_world import Killed, KillSwitch, World, a_world, killable, tuned
from tests.unit.replication.incremental import test_incremental
from tests.unit.replication.incremental.test_incremental import Followed
from twinhive.core.model.errors import ActNow, Refused
from twinhive.core.model.files import Attributes
from twinhive.core.model.marks import SOURCE_FOR
from twinhive.core.model.objects import Function
from twinhive.core.step.step_base import Work
from twinhive.replication.bootstrap.preflight import Preflight
from twinhive.runtime.dry_run.rehearsal import rehearse

JAR = "hdfs://east/jars/lib.jar"


def functions(world: World) -> dict[str, Function]:
    return {one.name: one for one in world.replica.functions("sales")}


def contents(world: World, name: str) -> list[bytes]:
    return [world.replica_files.read(place) for place in functions(world)[name].resources]


def said(log: list[str], name: str) -> list[str]:
    return [line for line in log if f"function sales.{name} is left out" in line]


def a_stale_world() -> World:
    """Return a source of which one function has lost its jar."""
    world = a_world()
    users = SourceWriter(world.source, world.source_files, "sales")
    for name in ("stale", "whole"):
        world.source_files.write(f"hdfs://east/jars/{name}.jar", name.encode())
        users.create_function(name, [f"hdfs://east/jars/{name}.jar"])
    world.source_files.delete("hdfs://east/jars/stale.jar")
    return world


def test_a_function_whose_file_is_gone_stops_no_load(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(test_incremental, "a_world", a_stale_world)
    followed = Followed()
    assert list(functions(followed.world)) == ["whole"]
    told = [line for line in said(followed.log, "stale") if "hdfs://east/jars/stale.jar is gone" in line]
    assert told and all("next: put the file back" in line for line in told)
    followed.assert_twin()


def test_preflight_says_which_functions_will_be_left_out() -> None:
    world, log = a_stale_world(), []
    Preflight(Work(a_policy(), holder={"run": "b"}, report=log.append)).run(world.ports())
    (told,) = said(log, "stale")
    assert "hdfs://east/jars/stale.jar is gone" in told
    assert not said(log, "whole")


def test_a_plan_says_which_functions_will_be_left_out() -> None:
    plan = rehearse("bootstrap", a_stale_world().ports(), a_policy())
    said_of = {(section.verb, section.what): section.names for section in plan.sections}
    assert said_of["create", "functions"] == ("whole",)
    (told,) = said_of["leave out", "functions"]
    assert "hdfs://east/jars/stale.jar is gone" in told


def test_a_file_that_its_functions_drop_has_kept_is_found_by_the_lane() -> None:
    followed = Followed()
    files = followed.world.source_files
    files.write(JAR, b"one")
    files.write("hdfs://east/cmroot/lib.jar_0000", b"of another lib.jar")
    files.set_attribute("hdfs://east/cmroot/lib.jar_0000", "user.original-loc", "hdfs://east/other/lib.jar")
    followed.users.create_function("f", [JAR])
    followed.users.drop_function("f")
    files.delete(JAR)
    ports = followed.world.ports()
    made = []
    create = followed.world.replica.create_function
    followed.world.replica.create_function = lambda function: (made.append(function), create(function))[1]
    followed.run_with(ports)
    assert [followed.world.replica_files.read(place) for one in made for place in one.resources] == [b"one"]
    assert functions(followed.world) == {}


def kept(followed: Followed, name: str, content: bytes, original: str, at_ms: int) -> None:
    path, files = f"hdfs://east/cmroot/{name}", followed.world.source_files
    files.put(path, content)
    files.set_attribute(path, "user.original-loc", original)
    files.set_attributes(path, Attributes(modified_ms=at_ms))


def test_of_what_is_kept_only_the_newest_of_that_very_path_is_taken() -> None:
    followed = Followed()
    followed.world.source_files.write(JAR, b"new")
    followed.users.create_function("f", [JAR])
    followed.world.source_files.delete(JAR)
    kept(followed, "lib.jar_0", b"old", JAR, 2_000)
    kept(followed, "lib.jar_1", b"new", JAR, 3_000)
    kept(followed, "lib.jar_2", b"of another", "hdfs://east/other/lib.jar", 4_000)
    kept(followed, "lib.jar_3", b"old", JAR, 1_000)
    followed.follow()
    assert contents(followed.world, "f") == [b"new"]


def test_a_function_that_is_made_again_has_its_new_file() -> None:
    followed = Followed()
    for content in (b"one", b"two"):
        followed.world.source_files.write(JAR, content)
        followed.users.create_function("f", [JAR])
        followed.follow()
        assert contents(followed.world, "f") == [content]
        if content == b"one":
            followed.users.drop_function("f")


def test_another_function_of_that_name_on_the_replica_gives_way() -> None:
    followed = Followed()
    followed.world.source_files.write(JAR, b"jar")
    followed.users.create_function("f", [JAR])
    followed.follow()
    (there,) = functions(followed.world).values()
    followed.users.drop_function("f")
    followed.follow()
    followed.world.replica.create_function(there.at("sales", ("hdfs://west/old/lib.jar",)))
    followed.users.create_function("f", [JAR])
    followed.follow()
    assert contents(followed.world, "f") == [b"jar"]


def test_a_file_that_is_nowhere_leaves_the_function_out_of_the_lane() -> None:
    followed = Followed()
    followed.users.create_function("f", [JAR])
    followed.users.insert("plain", None, [b"more"])
    assert followed.follow()["apply"].event_id == followed.world.source.current_event_id()
    assert functions(followed.world) == {}
    assert said(followed.log, "f")
    followed.assert_twin()


def test_files_of_one_name_are_files_of_their_own() -> None:
    followed = Followed()
    uris = [f"hdfs://east/jars/{version}/lib.jar" for version in ("v1", "v2", "v1")]
    for uri in uris:
        followed.world.source_files.write(uri, uri.encode())
    followed.users.create_function("f", [*uris, "hdfs://third/lib.jar"])
    followed.follow()
    places = functions(followed.world)["f"].resources
    assert [followed.world.replica_files.read(place) for place in places[:3]] == [uri.encode() for uri in uris]
    assert places[0] == places[2]
    assert places[3] == "hdfs://third/lib.jar"


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        ("hdfs://east/warehouse/managed/secret.db/t/f", "outside of the directories"),
        ("hdfs://east/jars/../warehouse/managed/secret.db/t/f", "outside of the directories"),
        ("hdfs://east/jars", "outside of the directories"),
        ("hdfs://east/jars//f", "outside of the directories"),
        ("hdfs://east/jarsy/f", "outside of the directories"),
        ("hdfs://east/jars/directory", "is a directory"),
        ("hdfs://east/jars/long.jar", "101 bytes long"),
    ],
)
def test_no_file_is_read_that_the_policy_does_not_let_be_read(place: str, reason: str) -> None:
    followed = Followed(tuned(function_file_bytes=100))
    files = followed.world.source_files
    files.write("hdfs://east/warehouse/managed/secret.db/t/f", b"secret")
    files.write("hdfs://east/jarsy/f", b"secret")
    files.write("hdfs://east/jars/directory/f", b"")
    files.write("hdfs://east/jars/long.jar", b"x" * 101)
    opened: list[str] = []
    real = files.open
    files.open = lambda path, **how: (opened.append(path), real(path, **how))[1]
    followed.users.create_function("f", [place])
    followed.follow()
    assert functions(followed.world) == {}
    assert any(reason in line for line in said(followed.log, "f")), followed.log
    assert opened == []


def test_directories_are_the_policys() -> None:
    followed = Followed(tuned(function_directories=("/own", "hdfs://east/full")))
    for uri in ("hdfs://east/own/a.jar", "hdfs://east/full/b.jar", JAR):
        followed.world.source_files.write(uri, b"jar")
    followed.users.create_function("f", ["hdfs://east/own/a.jar", "hdfs://east/full/b.jar"])
    followed.users.create_function("g", [JAR])
    followed.follow()
    assert list(functions(followed.world)) == ["f"]


def test_a_file_that_may_not_be_read_leaves_its_function_out() -> None:
    followed = Followed()
    followed.world.source_files.write(JAR, b"jar")
    followed.users.create_function("f", [JAR])
    checksum = followed.world.source_files.checksum

    def refuse(path: str, *args, **how):
        if path == JAR:
            raise Refused(f"{path}: permission denied")
        return checksum(path, *args, **how)

    followed.world.source_files.checksum = refuse
    followed.follow()
    assert any("may not be read" in line for line in said(followed.log, "f"))


@pytest.mark.parametrize("at", range(6, 16))
def test_killed_at_any_change_a_functions_files_are_whole(at: int) -> None:
    followed = Followed()
    followed.world.source_files.write(JAR, b"jar")
    followed.users.create_function("f", [JAR])
    with suppress(Killed):
        followed.run_with(killable(followed.world.ports(), KillSwitch(at, after_effect=True)))
    followed.follow()
    assert contents(followed.world, "f") == [b"jar"]
    followed.follow()
    followed.assert_twin()


def test_a_function_that_the_replica_does_not_drop_is_named_with_a_way_on() -> None:
    followed = Followed()
    followed.world.source_files.write(JAR, b"jar")
    followed.users.create_function("f", [JAR])
    followed.follow()
    replica = followed.world.replica
    for place in functions(followed.world)["f"].resources:
        followed.world.replica_files.delete(place)
    database = replica.database("sales")
    replica.set_database_parameters("sales", {**database.parameters, SOURCE_FOR: "another policy"})
    followed.users.drop_function("f")
    with pytest.raises(ActNow, match=r"function sales\.f of the replica cannot be dropped") as refused:
        followed.follow()
    assert "put a file at each path" in str(refused.value)
