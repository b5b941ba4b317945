import json
from dataclasses import replace

import pytest

from twinhive.copying.staged import CopyItem
from twinhive.domain.files import FileStatus

ITEM = CopyItem("hdfs://east/w/t/p=é b/f%20", 10, 1700, 16400, 1024, 0o640, "sales.t", "p=é b", "f%20")


def test_a_line_is_read_back() -> None:
    assert CopyItem.from_line(ITEM.to_line()) == ITEM
    assert "\n" not in ITEM.to_line()


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
    "difference", [{"source_path": "hdfs://east/g"}, {"length": 11}, {"modified_ms": 1701}, {"file_id": 16401}]
)
def test_another_file_has_another_staged_path(difference: dict[str, object]) -> None:
    assert replace(ITEM, **difference).staged_path("s") != ITEM.staged_path("s")  # type: ignore[arg-type]


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
