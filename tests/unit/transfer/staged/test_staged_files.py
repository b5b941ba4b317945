import json
from dataclasses import replace

import pytest

from twinhive.core.model.errors import ActNow
from twinhive.core.model.files import FileStatus
from twinhive.transfer.staged.staged_files import CopyItem, event_directory, events_directory

ITEM = CopyItem("hdfs://east/w/t/p=é b/f%20", 10, 1700, 16400, 1024, 0o640, "f%20", table="sales.t", partition="p=é b")
EVENT_FILE = replace(
    ITEM,
    length=0,
    modified_ms=0,
    file_id=0,
    checksum="00ab",
    cmroot="hdfs://east/cm",
    event_id=217,
    elsewhere=("a", "b"),
)


@pytest.mark.parametrize("item", [ITEM, EVENT_FILE, replace(ITEM, event_id=217)])
def test_a_line_is_read_back(item: CopyItem) -> None:
    assert CopyItem.from_line(item.to_line()) == item
    assert "\n" not in item.to_line()


@pytest.mark.parametrize(
    "wrong",
    [
        {"relative": "../../finance.db/accounts.7/evil"},
        {"relative": "a//b"},
        {"relative": "/a"},
        {"length": "10/../../evil"},
        {"event_id": "1"},
    ],
)
def test_a_line_by_which_a_copy_would_land_elsewhere_is_refused(wrong: dict[str, object]) -> None:
    line = json.dumps(json.loads(EVENT_FILE.to_line()) | wrong)
    with pytest.raises(ActNow, match="a line of a dump's list of files") as caught:
        CopyItem.from_line(line)
    assert "00ab" in str(caught.value), "the line says which it is"


def test_the_keys_of_a_line() -> None:
    assert json.loads(ITEM.to_line()) == {
        "path": "hdfs://east/w/t/p=é b/f%20",
        "length": 10,
        "modified_ms": 1700,
        "file_id": 16400,
        "block_size": 1024,
        "permission": 0o640,
        "table": "sales.t",
        "partition": "p=é b",
        "relative": "f%20",
    }


def test_the_keys_that_an_event_adds() -> None:
    added = {"checksum": "00ab", "cmroot": "hdfs://east/cm", "event_id": 217, "elsewhere": ["a", "b"]}
    assert json.loads(EVENT_FILE.to_line()).items() >= added.items()


def test_unknown_keys_of_a_line_are_left_out_and_absent_ones_have_defaults() -> None:
    line = '{"path": "hdfs://east/f", "length": 1, "modified_ms": 2, "file_id": 3, "invented_later": true}'
    assert CopyItem.from_line(line) == CopyItem("hdfs://east/f", 1, 2, 3)


def test_the_staged_path_is_the_same_for_the_same_file() -> None:
    path = ITEM.staged_path("hdfs://west/staging/")
    directory, name = path.rsplit("/", 1)
    assert directory == f"hdfs://west/staging/base/{name[:2]}"
    digest, length = name.split("_")
    assert len(digest) == 32 and length == "10"
    assert replace(ITEM, table="sales.renamed", relative="g", permission=0).staged_path("hdfs://west/staging") == path


@pytest.mark.parametrize(
    "difference", [{"path": "hdfs://east/g"}, {"length": 11}, {"modified_ms": 1701}, {"file_id": 16401}]
)
def test_another_file_has_another_staged_path(difference: dict[str, object]) -> None:
    assert replace(ITEM, **difference).staged_path("s") != ITEM.staged_path("s")  # type: ignore[arg-type]


def test_event_content_is_staged_below_its_event() -> None:
    directory, name = EVENT_FILE.staged_path("hdfs://west/staging/").rsplit("/", 1)
    assert directory == "hdfs://west/staging/events/000000000217"
    assert directory == event_directory("hdfs://west/staging", 217)
    assert events_directory("hdfs://west/staging") == "hdfs://west/staging/events"
    assert len(name) == 32


@pytest.mark.parametrize(
    ("difference", "same"),
    [
        ({"length": 11, "modified_ms": 1, "file_id": 1, "table": "u", "cmroot": None, "elsewhere": ()}, True),
        ({"path": "hdfs://east/g"}, False),
        ({"checksum": "00ac"}, False),
        ({"event_id": 218}, False),
    ],
)
def test_what_names_the_copy_of_event_content(difference: dict[str, object], same: bool) -> None:
    other = replace(EVENT_FILE, **difference)  # type: ignore[arg-type]
    assert (other.staged_path("s") == EVENT_FILE.staged_path("s")) is same


@pytest.mark.parametrize(("checksum", "is_content"), [(None, False), ("", False), ("00ab", True)])
def test_only_a_checksum_makes_event_content(checksum: str | None, is_content: bool) -> None:
    assert replace(EVENT_FILE, checksum=checksum).is_event_content is is_content


@pytest.mark.parametrize(
    ("status", "same"),
    [
        (FileStatus("f", 10, 1700, file_id=16400), True),
        (FileStatus("f", 11, 1700, file_id=16400), False),
        (FileStatus("f", 10, 1701, file_id=16400), False),
        (FileStatus("f", 10, 1700, file_id=16401), False),
        (FileStatus("f", 10, 1700, file_id=16400, is_directory=True), False),
        (FileStatus("f", 10, 1700, file_id=16400, owner="other", permission=0o777), True),
    ],
)
def test_is_still_the_file_that_was_listed(status: FileStatus, same: bool) -> None:
    assert ITEM.is_still(status) is same
