"""Nothing that comes from outside leads out of the directory that it belongs in."""

import pytest

from twinhive.core.model.changes.contents import SourceFile
from twinhive.core.model.changes.kinds import EventFile
from twinhive.core.model.errors import ActNow
from twinhive.core.model.untrusted_paths import is_collapsed, leads_elsewhere, place_below

PLACE = "hdfs://west/w/t.5"
ELSEWHERE = [
    "",
    ".",
    "..",
    "/",
    "//",
    "a/",
    "/a",
    "a//b",
    "../a",
    "a/..",
    "a/../b",
    "./a",
    "a/./b",
    "a\x00b",
    "a/\n/..",
]
BELOW = ["a", "...", "..a", "a..", ".a", "a. ", "p=../..a", "%2E%2E", "a\n", "..\n", "a/\n", "\n", "a b/c=d", "日本/x"]


@pytest.mark.parametrize("relative", ELSEWHERE)
def test_a_path_that_leads_elsewhere_has_no_place(relative: str) -> None:
    assert leads_elsewhere(relative)
    with pytest.raises(ActNow, match=r"belongs below hdfs://west/w/t\.5"):
        place_below(PLACE, relative)


@pytest.mark.parametrize("relative", BELOW)
def test_odd_names_that_are_names_have_one(relative: str) -> None:
    assert not leads_elsewhere(relative)
    assert place_below(PLACE, relative) == f"{PLACE}/{relative}"
    assert not is_collapsed(f"{PLACE}/{relative}")


@pytest.mark.parametrize("path", ["hdfs://west/a/..", "hdfs://west/a/./b", "/a/../b", "..", "file:///a/../b", "a\x00"])
def test_paths_that_java_would_take_for_others(path: str) -> None:
    assert is_collapsed(path)


@pytest.mark.parametrize("path", ["hdfs://west/", "hdfs://west//a/", "file:///", "file:///a..b/...", "/a b"])
def test_paths_that_java_takes_as_they_are(path: str) -> None:
    assert not is_collapsed(path)


@pytest.mark.parametrize(
    "file",
    [
        EventFile("hdfs://east/w/t/../../finance.db/accounts.7/evil", "c", None, ""),
        EventFile("hdfs://east/tmp/evil", "c", None, "../../finance.db/accounts.7"),
        EventFile("hdfs://east/tmp/evil", "c", None, "/finance.db"),
        EventFile("hdfs://east/w/t/..", "c", None, ""),
        EventFile("hdfs://east/elsewhere/..", "c", None, ""),
        EventFile("hdfs://east/w/t/a/", "c", None, ""),
    ],
)
def test_the_error_names_the_event_of_a_file(file: EventFile) -> None:
    with pytest.raises(ActNow, match="event 12") as caught:
        SourceFile.of_event(file, "hdfs://east/w/t", 12)
    assert "skip-event" in str(caught.value.next_step)
