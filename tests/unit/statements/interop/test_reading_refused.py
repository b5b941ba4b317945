"""A dump of Hive that is wrong in one way is refused with one clear error, and nothing is taken over."""

import json
from collections.abc import Callable

import pytest

from tests.unit.statements.interop.hive_world import HiveWorld
from twinhive.core.model.errors import ActNow, Missing, TwinhiveError
from twinhive.statements.interop.hive_dump.hive_dump_reading import HiveDump, is_hive_dump, read_hive_dump


@pytest.fixture
def hive() -> HiveWorld:
    return HiveWorld()


def a_bootstrap(hive: HiveWorld) -> str:
    hive.users.add_constraint("plain", "not_null", "nn")
    return hive.write(hive.our_dump())


def events(hive: HiveWorld) -> str:
    begin = hive.our_dump().manifest.end.event_id
    hive.users.insert("plain", None, {"more": b"more"})
    hive.users.rename_table("plain", "other")
    return hive.write(hive.our_dump(begin))


def only(hive: HiveWorld, directory: str, end: str) -> str:
    """Return the first file of a dump whose path ends so."""
    return next(path for path in sorted(hive.files.paths()) if path.startswith(directory) and path.endswith(end))


def rewritten(hive: HiveWorld, path: str, old: str, new: str) -> None:
    content = hive.files.read(path)
    assert old.encode("latin-1") in content
    hive.files.write(path, content.replace(old.encode("latin-1"), new.encode("latin-1")))


def never_finished(hive: HiveWorld, directory: str) -> None:
    hive.files.delete(only(hive, directory, "_finished_dump"))


def of_another_kind(hive: HiveWorld, directory: str) -> None:
    rewritten(hive, only(hive, directory, "hive/_dumpmetadata"), "BOOTSTRAP", "OPTIMIZED_BOOTSTRAP")


def without_its_database(hive: HiveWorld, directory: str) -> None:
    rewritten(hive, only(hive, directory, "hive/_dumpmetadata"), "\nsales\n", "\n")


def cut_off(hive: HiveWorld, directory: str) -> None:
    hive.files.write(only(hive, directory, "hive/_dumpmetadata"), b"BOOTSTRAP\t7")


def of_another_version(hive: HiveWorld, directory: str) -> None:
    rewritten(hive, only(hive, directory, "orders/_metadata"), '"version":"0.2"', '"version":"1.0"')


def a_description_that_is_no_json(hive: HiveWorld, directory: str) -> None:
    hive.files.write(only(hive, directory, "orders/_metadata"), b'{"version":')


def a_struct_that_is_none(hive: HiveWorld, directory: str) -> None:
    path = only(hive, directory, "orders/_metadata")
    fields = json.loads(hive.files.read(path)) | {"table": "{}"}
    hive.files.write(path, json.dumps(fields).encode())


def without_a_list_of_files(hive: HiveWorld, directory: str) -> None:
    hive.files.delete(only(hive, directory, "data/sales/plain/_files"))


def with_a_file_without_checksum(hive: HiveWorld, directory: str) -> None:
    hive.files.write(only(hive, directory, "data/sales/plain/_files"), b"hdfs://east/warehouse/plain/data###\n")


def with_a_file_outside_its_table(hive: HiveWorld, directory: str) -> None:
    path = only(hive, directory, "plain/_files")
    line = hive.files.read(path).decode().splitlines()[0]
    name, checksum, cmroot, _ = line.split("#")
    hive.files.write(path, f"{name}x#{checksum}#{cmroot}#../../finance.db/accounts.7\n".replace("east", "far").encode())


def constraints_that_are_no_json(hive: HiveWorld, directory: str) -> None:
    hive.files.write(only(hive, directory, "_constraints/c_plain"), b'{"version":"0.2","nns":"{"}')


def constraints_without_their_list(hive: HiveWorld, directory: str) -> None:
    rewritten(hive, only(hive, directory, "_constraints/c_plain"), "notNullConstraintListJson", "another")


def a_constraint_without_a_name(hive: HiveWorld, directory: str) -> None:
    message = json.dumps({"notNullConstraintListJson": ["{}"]})
    content = json.dumps({"version": "0.2", "nns": message}).encode()
    hive.files.write(only(hive, directory, "_constraints/c_plain"), content)


@pytest.mark.parametrize(
    ("damage", "kind", "said"),
    [
        (never_finished, Missing, "_finished_dump"),
        (of_another_kind, ActNow, "OPTIMIZED_BOOTSTRAP"),
        (without_its_database, ActNow, "the name of the database"),
        (cut_off, ActNow, "7 fields"),
        (of_another_version, ActNow, "version 1.0"),
        (a_description_that_is_no_json, ActNow, "orders/_metadata"),
        (a_struct_that_is_none, ActNow, "orders/_metadata"),
        (without_a_list_of_files, Missing, "data/sales/plain/_files"),
        (with_a_file_without_checksum, ActNow, "no checksum"),
        (with_a_file_outside_its_table, ActNow, "data/sales/plain/_files"),
        (constraints_that_are_no_json, ActNow, "_constraints/c_plain"),
        (constraints_without_their_list, ActNow, "_constraints/c_plain"),
        (a_constraint_without_a_name, ActNow, "_constraints/c_plain"),
    ],
)
def test_a_bootstrap_that_is_wrong_in_one_way(
    hive: HiveWorld, damage: Callable, kind: type[TwinhiveError], said: str
) -> None:
    _refused(hive, a_bootstrap(hive), damage, kind, said)


def without_an_event(hive: HiveWorld, directory: str) -> None:
    hive.files.delete(only(hive, directory, "/_metadata").rpartition("/")[0])


def without_a_count(hive: HiveWorld, directory: str) -> None:
    hive.files.delete(only(hive, directory, "_events_dump"))


def with_an_event_of_another_range(hive: HiveWorld, directory: str) -> None:
    first = only(hive, directory, "/_metadata").rpartition("/")[0]
    hive.files.rename(first, f"{first.rpartition('/')[0]}/1")


def with_an_event_under_anothers_number(hive: HiveWorld, directory: str) -> None:
    path = only(hive, directory, "/_metadata").replace("_metadata", "_dumpmetadata")
    hive.files.write(path, hive.files.read(path).replace(b"EVENT_INSERT\t", b"EVENT_INSERT\t9"))


def of_an_unknown_event(hive: HiveWorld, directory: str) -> None:
    path = only(hive, directory, "/_metadata").replace("_metadata", "_dumpmetadata")
    rewritten(hive, path, "EVENT_INSERT", "EVENT_INVENTED")


def without_the_files_of_an_event(hive: HiveWorld, directory: str) -> None:
    hive.files.delete(only(hive, directory, "data/_files"))


def with_an_events_file_without_checksum(hive: HiveWorld, directory: str) -> None:
    path = only(hive, directory, "data/_files")
    name = hive.files.read(path).decode().partition("#")[0]
    hive.files.write(path, f"{name}###\n".encode())


def with_an_events_file_that_is_a_path_alone(hive: HiveWorld, directory: str) -> None:
    path = only(hive, directory, "data/_files")
    hive.files.write(path, hive.files.read(path).partition(b"#")[0])


def without_the_objects_of_an_event(hive: HiveWorld, directory: str) -> None:
    hive.files.delete(only(hive, directory, "/_metadata"))


def with_half_a_letter_in_a_rename(hive: HiveWorld, directory: str) -> None:
    path = next(
        path
        for path in sorted(hive.files.paths())
        if path.startswith(directory) and b"EVENT_RENAME_TABLE" in hive.files.read(path)
    )
    rewritten(hive, path, '"server":""', '"server":"\xe4"')


@pytest.mark.parametrize(
    ("damage", "kind", "said"),
    [
        (never_finished, Missing, "_finished_dump"),
        (without_an_event, Missing, "as _events_dump says"),
        (without_a_count, Missing, "_events_dump"),
        (with_an_event_of_another_range, Missing, "event 1"),
        (with_an_event_under_anothers_number, ActNow, "_dumpmetadata"),
        (of_an_unknown_event, ActNow, "EVENT_INVENTED"),
        (without_the_files_of_an_event, Missing, "data/_files"),
        (with_an_events_file_without_checksum, ActNow, "no checksum"),
        (with_an_events_file_that_is_a_path_alone, ActNow, "no checksum"),
        (without_the_objects_of_an_event, Missing, "_metadata"),
        (with_half_a_letter_in_a_rename, ActNow, "EVENT_RENAME_TABLE"),
    ],
)
def test_events_that_are_wrong_in_one_way(
    hive: HiveWorld, damage: Callable, kind: type[TwinhiveError], said: str
) -> None:
    _refused(hive, events(hive), damage, kind, said)


def _refused(hive: HiveWorld, directory: str, damage: Callable, kind: type[TwinhiveError], said: str) -> None:
    damage(hive, directory)
    policy = hive.policy()
    with pytest.raises(kind) as error:
        hive.taken_over(read_hive_dump(hive.files, directory), policy)
    assert said in str(error.value)
    assert error.value.next_step
    assert not any(path.startswith(policy.dumps) and path.endswith("dump.json") for path in hive.files.paths())


def test_a_directory_without_a_dump(hive: HiveWorld) -> None:
    with pytest.raises(Missing, match="hdfs://east/elsewhere"):
        read_hive_dump(hive.files, "hdfs://east/elsewhere")
    assert not is_hive_dump(hive.files, "hdfs://east/elsewhere")


def test_a_dump_is_found_by_the_directory_that_repl_dump_returns_and_by_the_one_in_it(hive: HiveWorld) -> None:
    directory = a_bootstrap(hive)
    assert is_hive_dump(hive.files, directory)
    found: HiveDump = read_hive_dump(hive.files, directory)
    assert found == read_hive_dump(hive.files, f"{directory}/hive")
    assert (found.database, found.include, found.is_exact) == ("sales", None, True)
