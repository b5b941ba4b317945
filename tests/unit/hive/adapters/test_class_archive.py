"""The second job that ends well writes the classes of a Java and a Spark for those that follow; no half is seen."""

import os
from pathlib import Path

import pytest

from twinhive.hive.adapters.class_archive import archive_options, class_archive

WRITES = "-XX:ArchiveClassesAtExit="


class Place:
    """A cache, a Java and a Spark of files."""

    def __init__(self, directory: Path) -> None:
        self.cache, self.java, self.spark = (directory / name for name in ("cache", "java", "spark"))
        for one in (self.cache, self.java, self.spark / "jars"):
            one.mkdir(parents=True)
        (self.java / "release").write_text('JAVA_VERSION="17.0.15"')
        (self.spark / "jars" / "core.jar").write_text("core")

    def job(self, *, writes: bool = True, succeeds: bool = True) -> str:
        """Do what a submitter and Java do; return the options that Java was given."""
        with class_archive(self.cache, str(self.java), str(self.spark)) as archive:
            words = dict(word.partition("=")[::2] for word in archive.options.split())
            if writes and (place := words.get("-XX:ArchiveClassesAtExit")):
                Path(place).write_text("classes")
            if succeeds:
                archive.job_has_succeeded()
        return archive.options

    @property
    def files(self) -> list[str]:
        return sorted(one.suffix for one in self.cache.iterdir() if one.suffix != ".lock")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    made = Place(tmp_path)
    assert made.job() == "", "a machine that is made for one job writes nothing"
    return made


def test_the_second_job_writes_and_the_next_ones_read(place: Place) -> None:
    assert archive_options(place.cache, str(place.java), str(place.spark)) == ""
    assert WRITES in place.job()
    (archive,) = place.cache.glob("*.jsa")
    assert f"-XX:SharedArchiveFile={archive} " in place.job()
    assert place.job() == archive_options(place.cache, str(place.java), str(place.spark))


@pytest.mark.parametrize("how", [{"succeeds": False}, {"writes": False}])
def test_a_job_that_fails_or_writes_nothing_leaves_nothing(place: Place, how: dict[str, bool]) -> None:
    assert WRITES in place.job(**how)
    assert place.files == []
    assert WRITES in place.job()


def test_one_job_writes_and_those_beside_it_do_without(place: Place) -> None:
    with class_archive(place.cache, str(place.java), str(place.spark)) as archive:
        assert archive.options
        assert place.job() == ""
    assert WRITES in place.job()


@pytest.mark.parametrize("changed", ["java/release", "spark/jars/core.jar", "spark/jars/more.jar"])
def test_another_java_or_spark_has_another_archive(place: Place, changed: str) -> None:
    place.job()
    (place.cache.parent / changed).write_text("of another version")
    assert place.job() == ""
    assert WRITES in place.job()
    assert place.files == [".jsa", ".jsa"]


def test_what_a_killed_process_has_left_and_what_is_long_out_of_use_is_removed(place: Place) -> None:
    place.job()
    old = list(place.cache.iterdir())
    for one in old:
        os.utime(one, (0, 0))
    (place.java / "release").write_text("21")
    place.job()
    (lock,) = set(place.cache.iterdir()) - {*old}
    lock.with_suffix(".new-0123").write_text("half of it")
    place.job()
    assert place.files == [".jsa"]
    assert not any(one.exists() for one in old)


def test_a_job_that_has_succeeded_does_not_fail_for_what_cannot_be_removed(place: Place) -> None:
    left = place.cache / "classes-of-another.jsa"
    left.mkdir()
    os.utime(left, (0, 0))
    assert WRITES in place.job()
    assert "-XX:SharedArchiveFile=" in place.job()
    assert left.exists()


def test_where_there_is_no_room_nothing_is_written(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("twinhive.hive.adapters.class_archive._ROOM", 2**62)
    assert place.job() == ""


def test_without_jars_there_is_nothing_to_archive(tmp_path: Path) -> None:
    place = Place(tmp_path)
    for jar in (place.spark / "jars").iterdir():
        jar.unlink()
    (place.spark / "jars").rmdir()
    assert [place.job(), place.job(), *place.cache.iterdir()] == ["", ""]


def test_a_java_that_has_archives_of_another_kind_gets_no_options(place: Place) -> None:
    (place.java / "release").write_text('JVM_VARIANT="Openj9"')
    assert [place.job(), place.job()] == ["", ""]


def test_java_has_no_way_to_be_told_of_a_path_with_a_blank(tmp_path: Path) -> None:
    place = Place(tmp_path / "a b")
    assert [place.job(), place.job()] == ["", ""]
