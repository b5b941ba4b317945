"""Code that executors run comes from a directory that nobody else may write."""

import os
from pathlib import Path

import pytest

from twinhive.core.model.errors import Refused
from twinhive.hive.adapters.spark_package import package_cache


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path / f"twinhive-spark-{os.getuid()}"


def test_the_directory_is_made_for_us_alone_and_found_again(cache: Path) -> None:
    assert package_cache() == package_cache() == cache
    assert cache.stat().st_mode & 0o777 == 0o700


def test_a_link_is_refused_wherever_it_leads(cache: Path) -> None:
    (cache.parent / "mine").mkdir(mode=0o700)
    cache.symlink_to(cache.parent / "mine")
    with pytest.raises(Refused, match="others may put code") as raised:
        package_cache()
    assert raised.value.found == "a link"


def test_a_link_to_nothing_and_a_file_are_refused(cache: Path) -> None:
    cache.symlink_to(cache.parent / "nothing")
    with pytest.raises(Refused):
        package_cache()
    cache.unlink()
    cache.write_text("x")
    with pytest.raises(Refused) as raised:
        package_cache()
    assert raised.value.found == "no directory"


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777, 0o1777, 0o720])
def test_a_directory_that_others_may_write_is_refused(cache: Path, mode: int) -> None:
    cache.mkdir()
    cache.chmod(mode)
    with pytest.raises(Refused) as raised:
        package_cache()
    assert raised.value.found == f"permissions {mode:o}"


@pytest.mark.parametrize("mode", [0o700, 0o750, 0o755])
def test_one_that_others_may_only_read_is_fine(cache: Path, mode: int) -> None:
    cache.mkdir()
    cache.chmod(mode)
    assert package_cache() == cache


def test_a_directory_of_another_user_is_refused(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    user = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: user + 1)
    other = cache.parent / f"twinhive-spark-{user + 1}"
    other.mkdir(mode=0o700)
    with pytest.raises(Refused) as raised:
        package_cache()
    assert raised.value.found == f"a directory of user id {user}"
