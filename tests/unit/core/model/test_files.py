"""A path that names no host is on the file system of its cluster; one that names a host is left as it is."""

import pytest

from twinhive.core.model.files import LEASING, RENAMING, qualified


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/x/y", "hdfs://east/x/y"),
        ("hdfs:/x/y", "hdfs://east/x/y"),
        ("hdfs:///x/y", "hdfs://east/x/y"),
        ("/", "hdfs://east/"),
        ("hdfs://east/x/y", "hdfs://east/x/y"),
        ("hdfs://west/x/y", "hdfs://west/x/y"),
        ("s3a://bucket/x", "s3a://bucket/x"),
        ("file:///x", "file:///x"),
        ("x/y", "x/y"),
    ],
)
def test_only_what_names_no_host_is_completed(path: str, expected: str) -> None:
    assert qualified(path, "hdfs://east") == expected


def test_local_paths_are_whole() -> None:
    assert (
        qualified("file:///x", "file://")
        == qualified("file:/x", "file://")
        == qualified("/x", "file://")
        == "file:///x"
    )


def test_only_hdfs_has_what_a_load_rests_on() -> None:
    assert RENAMING & LEASING == {"hdfs"} < RENAMING
