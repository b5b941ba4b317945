"""What a person may write as the place of files."""

from pathlib import Path

import pytest

from twinhive.core.model.endpoints import FileSystemEndpoint
from twinhive.core.model.errors import InvalidSettings
from twinhive.runtime.wiring.file_addresses import AddressBook, read_site

EAST = FileSystemEndpoint("hdfs://east", {"dfs.nameservices": "east"}, "hive")
SITE = {"fs.defaultFS": "hdfs://site:8020", "dfs.replication": "2"}
BOOK = AddressBook({"east": EAST}, SITE)


@pytest.mark.parametrize(
    ("text", "uri", "properties", "user"),
    [
        ("hdfs://east/a/b", "hdfs://east/a/b", EAST.properties, "hive"),
        ("east:/a/b", "hdfs://east/a/b", EAST.properties, "hive"),
        ("hdfs://nn:8020/a b/100%", "hdfs://nn:8020/a b/100%", SITE, None),
        ("hdfs://nn:8020//a//b/", "hdfs://nn:8020/a/b", SITE, None),
        ("/a", "hdfs://site:8020/a", SITE, None),
        ("hdfs://nn:8020", "hdfs://nn:8020/", SITE, None),
        ("file:///tmp/x", "file:///tmp/x", SITE, None),
        ("file:/tmp/x", "file:///tmp/x", SITE, None),
        ("east:/a\nb", "hdfs://east/a\nb", EAST.properties, "hive"),
    ],
)
def test_an_address_is_a_uri_or_a_path_on_a_known_cluster(
    text: str, uri: str, properties: dict[str, str], user: str | None
) -> None:
    found = BOOK.find(text)
    assert (found.uri, found.endpoint.properties, found.endpoint.user) == (uri, properties, user)
    assert uri.startswith(found.endpoint.root)


@pytest.mark.parametrize("text", ["", "a/b", "west:/a", "hdfs://east/a/../b", "east:/./a", "hdfs:/"])
def test_what_names_no_file_system_is_refused_with_what_was_expected(text: str) -> None:
    with pytest.raises(InvalidSettings) as refused:
        BOOK.find(text)
    assert refused.value.expected and refused.value.next_step


def test_a_path_alone_needs_a_default_file_system() -> None:
    with pytest.raises(InvalidSettings, match="names no file system"):
        AddressBook().find("/a")


def test_what_is_given_for_all_wins_over_what_is_configured() -> None:
    book = AddressBook({"east": EAST}, SITE, {"dfs.nameservices": "other"}, "etl")
    found = book.find("east:/a").endpoint
    assert (found.properties, found.user) == ({"dfs.nameservices": "other"}, "etl")


def test_the_site_files_of_this_machine(tmp_path: Path) -> None:
    head = '<?xml version="1.0"?><configuration><property><name> {} </name><value>{}</value></property></configuration>'
    (tmp_path / "core-site.xml").write_text(head.format("fs.defaultFS", "hdfs://x"))
    (tmp_path / "hdfs-site.xml").write_text(head.format("dfs.replication", "3"))
    environment = {"HADOOP_CONF_DIR": str(tmp_path)}
    assert read_site(environment) == {"fs.defaultFS": "hdfs://x", "dfs.replication": "3"}
    (tmp_path / "hdfs-site.xml").write_text("<configuration>")
    with pytest.raises(InvalidSettings, match=r"hdfs-site\.xml"):
        read_site(environment)


def test_there_need_be_no_site_files(tmp_path: Path) -> None:
    assert read_site({}) == {} == read_site({"HADOOP_CONF_DIR": str(tmp_path)})
