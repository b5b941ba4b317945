"""What one file system is called: by its nameservice, by its NameNodes with and without Hadoop's port, by more."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twinhive.core.model.file_system_names import OneFileSystem, other_names

HA = {
    "dfs.nameservices": "east, west",
    "dfs.ha.namenodes.east": "nn1,nn2",
    "dfs.namenode.rpc-address.east.nn1": "nn1.east:8020",
    "dfs.namenode.rpc-address.east.nn2": "nn2.east:9000",
    "dfs.ha.namenodes.west": "nn1",
    "dfs.namenode.rpc-address.west.nn1": "nn1.west",
}


def test_names_of_a_nameservice_are_its_namenodes_and_no_others() -> None:
    assert other_names("hdfs://east", HA) == (
        "hdfs://east:8020",
        "hdfs://nn1.east",
        "hdfs://nn1.east:8020",
        "hdfs://nn2.east:9000",
    )
    assert other_names("hdfs://west", HA) == ("hdfs://nn1.west", "hdfs://nn1.west:8020", "hdfs://west:8020")


def test_one_that_is_called_by_its_namenode_is_its_nameservice_too() -> None:
    assert "hdfs://east" in other_names("hdfs://NN1.east:8020", HA)
    assert other_names("hdfs://NN1.east:8020", HA)[0] == "hdfs://NN1.east"
    without_ha = {"dfs.nameservices": "east", "dfs.namenode.rpc-address.east": "nn.east"}
    assert "hdfs://nn.east:8020" in other_names("hdfs://east", without_ha)


def test_without_properties_there_are_the_listed_ones() -> None:
    assert other_names("hdfs://nn:9000", {}) == ()
    assert other_names("hdfs://nn:9000", {}, ["hdfs://old/"]) == ("hdfs://old", "hdfs://old:8020")
    assert other_names("s3a://bucket", {}, ["s3n://bucket"]) == ("s3n://bucket",)


EAST = OneFileSystem("hdfs://east", other_names("hdfs://east", HA))


@pytest.mark.parametrize(
    ("location", "named"),
    [
        ("hdfs://nn1.east:8020/a/b", "hdfs://east/a/b"),
        ("hdfs://nn1.east/a", "hdfs://east/a"),
        ("HDFS://NN1.East:8020/a", "hdfs://east/a"),
        ("hdfs://nn2.east:9000", "hdfs://east"),
        ("hdfs://nn1.east:80200/a", "hdfs://nn1.east:80200/a"),
        ("hdfs://nn1.eastern/a", "hdfs://nn1.eastern/a"),
        ("hdfs://nn1.east:9000/a", "hdfs://nn1.east:9000/a"),
        ("hdfs://nn2.east/a", "hdfs://nn2.east/a"),
        ("hdfs://nn1.west/a", "hdfs://nn1.west/a"),
        ("hdfs://east/hdfs://nn1.east/a", "hdfs://east/hdfs://nn1.east/a"),
        ("/a", "/a"),
        ("har://hdfs-nn1.east:8020/a", "har://hdfs-nn1.east:8020/a"),
    ],
)
def test_a_location_gets_the_one_name(location: str, named: str) -> None:
    assert EAST.named(location) == named


def test_within_json_texts_that_are_places_get_it() -> None:
    said = r'{"a":"hdfs://nn1.east:8020/x","s":"{\"l\":\"hdfs://nn1.east/y\",\"c\":\"see hdfs://nn1.east/z\"}",'
    files = '"f":["hdfs://nn1.east/f###","cm#hdfs://nn1.east:8020/cm/f#"]}'
    assert EAST.named_within(said + files) == (
        r'{"a":"hdfs://east/x","s":"{\"l\":\"hdfs://east/y\",\"c\":\"see hdfs://nn1.east/z\"}",'
        '"f":["hdfs://east/f###","cm#hdfs://east/cm/f#"]}'
    )


ROOTS = ("hdfs://east", "hdfs://EAST", "hdfs://nn1.east", "hdfs://nn1.east:8020", "hdfs://nn2.east:9000")
WRITTEN = ("hdfs://east", "hdfs://nn1.east", "hdfs://NN1.east:8020", "hdfs://nn2.east:9000", "HDFS://east:8020")
OTHERS = ("hdfs://nn1.east:80200", "hdfs://nn1.eastern", "hdfs://nn2.east:9", "hdfs://west", "xhdfs://east", "İ", "")


@given(
    st.sampled_from(ROOTS),
    st.lists(st.tuples(st.sampled_from('"# '), st.sampled_from((*WRITTEN, *OTHERS))), max_size=6),
)
def test_whatever_else_a_text_names_each_place_gets_the_one_name(root: str, places: list[tuple[str, str]]) -> None:
    one = OneFileSystem(root, other_names(root, HA))
    text = "".join(f"{before}{name}/x" for before, name in places)
    named = [(before, root if before in '"#' and name in WRITTEN else name) for before, name in places]
    expected = "".join(f"{before}{name}/x" for before, name in named)
    assert one.named_within(text) == expected
