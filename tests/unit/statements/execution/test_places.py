"""A statement finds its clusters: named, the policy's, the only one; whatever is not one of those is refused."""

import pytest
import yaml

from tests.unit.statements.execution.speaker import Speaker
from twinhive.core.model.errors import InvalidSettings


@pytest.fixture
def sales(speaker: Speaker) -> Speaker:
    speaker.policies.add("sales")
    return speaker


def _clusters(speaker: Speaker, *names: str) -> None:
    path = speaker.policies.directory / "clusters.yaml"
    known = yaml.safe_load(path.read_text(encoding="utf-8"))["clusters"]
    speaker.policies.write("clusters.yaml", {"clusters": {name: known[name] for name in names}})


def test_a_named_cluster_is_the_place_of_every_statement(speaker: Speaker) -> None:
    place = speaker.place("west")
    assert (place.dumping_cluster(), place.loading_cluster()) == ("west", "west")


def test_the_only_cluster_needs_no_name(speaker: Speaker) -> None:
    _clusters(speaker, "west")
    assert speaker.place().loading_cluster() == "west"


def test_a_policy_dumps_at_its_source_and_loads_at_its_replica(sales: Speaker) -> None:
    place = sales.place(policy="sales")
    assert (place.dumping_cluster(), place.loading_cluster()) == ("east", "west")


def test_the_policys_cluster_may_be_named_as_well(sales: Speaker) -> None:
    assert sales.place("east", "sales").dumping_cluster() == "east"


@pytest.mark.parametrize(
    ("cluster", "policy", "statement", "found", "expected"),
    [
        (None, None, "REPL STATUS sales", "2 clusters in clusters.yaml", "one of east, west"),
        ("north", None, "REPL DUMP sales", "north", "one of east, west"),
        ("east", "sales", "REPL STATUS sales", "--cluster east", "west"),
        ("west", "sales", "REPL DUMP sales", "--cluster west", "east"),
        (None, "slaes", "REPL DUMP sales", "1 policy files", "one of sales"),
    ],
    ids=["none among two", "unknown", "not the policy's replica", "not the policy's source", "unknown policy"],
)
def test_a_place_that_is_not_to_be_found_is_refused(
    sales: Speaker, cluster: str | None, policy: str | None, statement: str, found: str, expected: str
) -> None:
    with pytest.raises(InvalidSettings) as caught:
        sales.say(statement, cluster, policy)
    assert (caught.value.found, caught.value.expected) == (found, expected)
    assert caught.value.next_step


def test_a_dump_of_a_cluster_that_is_not_configured_here_is_refused(speaker: Speaker) -> None:
    directory, _ = speaker.dump()
    moved = directory.replace("hdfs://east", "hdfs://west")
    for path in speaker.world.source_files.paths():
        if path.startswith(f"{directory}/"):
            speaker.world.replica_files.put(path.replace(directory, moved), speaker.world.source_files.read(path))
    _clusters(speaker, "west")
    with pytest.raises(InvalidSettings, match=f"the dump {moved} names a cluster that is not configured") as caught:
        speaker.say(f"REPL LOAD FROM '{moved}'")
    assert (caught.value.found, caught.value.expected) == ("east", "one of west")


def test_a_directory_on_a_file_system_of_no_cluster_is_refused(speaker: Speaker) -> None:
    with pytest.raises(InvalidSettings, match="file system of no cluster") as caught:
        speaker.say("REPL LOAD FROM 'hdfs://north/dumps/1'", "west")
    assert caught.value.expected == "a directory on hdfs://east or hdfs://west"
