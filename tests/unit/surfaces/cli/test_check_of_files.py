"""`twinhive check` says what is wrong with the files that are everybody's, be there a policy or not."""

from typing import Any

import pytest

from tests.support.policy_terminal import Terminal


def without_policies(terminal: Terminal) -> None:
    for path in (terminal.policies.directory / "policies").glob("*"):
        path.unlink()


def files(found: Any) -> dict[str, list[str]]:
    return {one["file"]: [problem["what"] for problem in one["problems"]] for one in found["files"]}


def test_files_that_can_be_used_are_named(terminal: Terminal) -> None:
    assert files(terminal.document("check")) == {"clusters.yaml": [], "remotes.yaml": []}


def test_remotes_that_cannot_be_read_are_a_problem(terminal: Terminal) -> None:
    terminal.policies.write("remotes.yaml", "colour: red\n")
    said = terminal.type("check", code=4)
    assert "remotes.yaml cannot be used" in said and "colour" in said and "can be used" not in said.split("error")[0]
    assert len(files(terminal.document("check", code=4))["remotes.yaml"]) == 1
    assert "1 policies can be used" in terminal.type("check", "sales")


def test_clusters_that_cannot_be_read_are_a_problem_without_any_policy(terminal: Terminal) -> None:
    terminal.policies.write("clusters.yaml", "clusters: {east: {colour: red}}\n")
    for _ in range(2):
        assert "clusters.yaml cannot be used" in terminal.type("check", code=4)
        assert list(files(terminal.document("check", code=4))) == ["clusters.yaml", "remotes.yaml"]
        without_policies(terminal)


def test_a_directory_that_is_for_nothing_is_a_problem(terminal: Terminal) -> None:
    without_policies(terminal)
    said = terminal.type("check", code=4)
    assert "says nothing that is to be done" in said and "write a policy" in said


def test_what_only_tells_or_serves_needs_no_policy(terminal: Terminal) -> None:
    without_policies(terminal)
    path = terminal.policies.directory / "clusters.yaml"
    before = path.read_text()
    for more in ("messages: {broker: bus}", "gateway: {port: 9090}"):
        path.write_text(before.replace("  east:", f"  east:\n    {more}", 1))
        assert "0 policies can be used" in terminal.type("check")
    path.write_text(before)
    terminal.policies.write("remotes.yaml", "clusters: true\n")
    assert "0 policies can be used" in terminal.type("check")


@pytest.mark.parametrize(
    "words",
    [
        ("clusters",),
        ("clusters", "check"),
        ("publish", "east"),
        ("topic", "east", "sales.orders"),
        ("sets", "list", "east", "sales"),
        ("route", "select 1 from t", "--metastore", "east"),
        ("route", "select 1 from t"),
        ("gateway", "--cluster", "east", "--port", "1"),
        ("remotes",),
        ("sql", "USE CLUSTER east; EXPORT TABLE sales.orders TO 'hdfs://east/exports/orders'"),
        ("export", "sales.orders", "hdfs://east/exports/orders"),
        ("sql", "EXPORT TABLE sales.orders TO 'hdfs://east/exports/orders'"),
    ],
    ids=" ".join,
)
def test_who_finds_no_cluster_is_told_what_is_wrong_with_their_file(terminal: Terminal, words: tuple[str, ...]) -> None:
    terminal.policies.write("clusters.yaml", "clusters: {east: {colour: red}}\n")
    said = terminal.type(*words, code=4)
    assert "clusters.yaml cannot be used" in said and "colour" in said
