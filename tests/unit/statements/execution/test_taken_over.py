"""What a load has taken over from Hive's dump before it was cut off, and cannot use any more, is made anew."""

import json
from collections.abc import Callable

import pytest

from tests.support.hdfs.fake_files import InMemoryFiles
from tests.unit.statements.execution.speaker import Speaker
from tests.unit.statements.execution.test_statement_cleaning import FOR_HIVE, dump, load
from twinhive.core.model.errors import Refused
from twinhive.statements.steps.repl_load import ReplLoad

Damage = Callable[[InMemoryFiles, str], None]


class CutOff(BaseException):
    """The process is killed."""


def _formatted(name: str) -> Damage:
    def damage(files: InMemoryFiles, path: str) -> None:
        if path.endswith(name):
            files.write(path, json.dumps(json.loads(files.read(path)) | {"format": 999}).encode())

    return damage


def _without(name: str) -> Damage:
    def damage(files: InMemoryFiles, path: str) -> None:
        if path.endswith(name):
            files.delete(path)

    return damage


@pytest.fixture
def cut_off(speaker: Speaker, monkeypatch: pytest.MonkeyPatch) -> str:
    """Take Hive's dump over, and be killed before it is loaded; return the directory of Hive's dump."""
    speaker.users.drop_partitions("orders", [("50%=#:ü",)])
    directory = dump(speaker, FOR_HIVE)

    def killed(*_: object) -> None:
        raise CutOff

    with monkeypatch.context() as patch:
        patch.setattr(ReplLoad, "_load", killed)
        with pytest.raises(CutOff):
            load(speaker, directory)
    assert taken_over(speaker)
    return directory


def taken_over(speaker: Speaker) -> list[str]:
    return [path for path in speaker.world.replica_files.paths() if "/hive-dumps/" in path]


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(_formatted("/dump.json"), id="a manifest of another version"),
        pytest.param(_formatted("/repl.json"), id="a description of another version"),
        pytest.param(_without("/views.jsonl.gz"), id="a part is gone"),
        pytest.param(_without("/repl.json"), id="never finished"),
    ],
)
def test_what_cannot_be_opened_is_taken_over_anew(speaker: Speaker, cut_off: str, damage: Damage) -> None:
    for path in taken_over(speaker):
        damage(speaker.world.replica_files, path)
    load(speaker, cut_off)
    assert speaker.say("REPL STATUS sales", "west")
    assert speaker.world.replica.table_names("sales") == [
        table for table in speaker.world.source.table_names("sales") if table != "outside"
    ]


def test_what_the_file_system_refuses_to_read_stays(speaker: Speaker, cut_off: str) -> None:
    files = speaker.world.replica_files
    read, before = files.read, taken_over(speaker)

    def refuse(path: str) -> bytes:
        if path.endswith("/repl.json"):
            raise Refused(f"{path}: no right to read it")
        return read(path)

    files.read = refuse
    with pytest.raises(Refused):
        load(speaker, cut_off)
    files.read = read
    assert taken_over(speaker) == before
