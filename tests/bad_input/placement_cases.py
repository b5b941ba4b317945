"""Cases of placements: what their files say wrong, and clusters that are not as they need them."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import yaml

from tests.bad_input.case import USAGE, Case
from tests.bad_input.desk import Desk
from tests.bad_input.schema_rules import SchemaRule, broken, put, schema_rules
from tests.support.builders import a_policy
from tests.support.worlds.fake_world import World
from twinhive.federation.placement.copy_lists import open_list
from twinhive.runtime.settings.placements import PlacementSettings
from twinhive.runtime.wiring.policy_wiring import Wiring

PLACEMENT = {"placement": "near", "database": "sales", "cluster": "north"}
RUN = ("run", "near", "copies")
_FOUND = {"required": "missing", "no other keys": "unknown key, expected one of"}


def with_placements(document: Any = PLACEMENT, **others: Any) -> Callable[[Desk], None]:
    """Return what adds a cluster that shares the metastore of east, and placements by file."""

    def spoil(desk: Desk) -> None:
        clusters = yaml.safe_load((desk.policies.directory / "clusters.yaml").read_text())
        clusters["clusters"]["north"] = {**clusters["clusters"]["west"], "metastore": {"of": "east"}}
        desk.policies.write("clusters.yaml", clusters)
        (desk.policies.directory / "placements").mkdir()
        for name, content in {"near": document, **others}.items():
            desk.policies.write(f"placements/{name}.yaml", content)
        ports = replace(desk.world.ports(), replica=desk.world.source, dump_files=desk.world.replica_files)
        desk.patch.setattr(Wiring, "write_ports", lambda wiring: ports)

    return spoil


def placement_cases() -> Iterator[Case]:
    """Break each rule of a placement file."""
    for rule in schema_rules(PlacementSettings):
        document = put(PLACEMENT, rule.place, broken(rule))
        yield Case(
            f"placement: {rule}", ("check", "near"), _said(rule), with_placements(document), rule=f"placement {rule}"
        )


def _said(rule: SchemaRule) -> tuple[str, ...]:
    key = ".".join([*rule.place, *(["colour"] if rule.kind == "no other keys" else [])])
    if not rule.place:
        key = {"type": "(whole file)", "no other keys": "colour"}[rule.kind]
    return f"{key}: {_FOUND.get(rule.kind, 'found')}", "expected"


def _foreign_directory(desk: Desk) -> None:
    with_placements()(desk)
    desk.world.replica_files.put("hdfs://west/twinhive/copies/near/precious", b"precious")


def _data_among_copies(desk: Desk) -> None:
    with_placements()(desk)
    desk.terminal.users.set_location("plain", "hdfs://west/twinhive/copies/near/plain.1")


PLACEMENT_CASES = (
    Case(
        "placement: a cluster that clusters.yaml does not have",
        ("check", "near"),
        ("cluster: found 'south', expected one of east, north, west",),
        with_placements({**PLACEMENT, "cluster": "south"}),
        rule="unknown_placement_clusters",
    ),
    Case(
        "placement: a cluster that shares its metastore with none",
        ("check", "near"),
        ("cluster: found 'west', expected one that shares its metastore with others: east, north",),
        with_placements({**PLACEMENT, "cluster": "west"}),
        rule="clusters_of_two_metastores",
    ),
    Case(
        "placement: copies on the cluster that they are of",
        ("check", "near"),
        ("primary (the default cluster): found 'east', expected one of north",),
        with_placements({**PLACEMENT, "cluster": "east"}),
    ),
    Case(
        "placement: of a cluster of another metastore",
        ("check", "near"),
        ("primary: found 'west', expected one of east",),
        with_placements({**PLACEMENT, "primary": "west"}),
    ),
    Case(
        "placement: two of one name",
        ("check", "near"),
        ("other.yaml has the same name near, expected one placement alone",),
        with_placements(other=PLACEMENT),
    ),
    Case(
        "placement: the name of a policy",
        ("check", "sales"),
        ("near.yaml: a policy has the name sales, expected another one",),
        with_placements({**PLACEMENT, "placement": "sales"}),
    ),
    Case(
        "placement: below another one",
        ("check", "near"),
        (
            "root: found '/twinhive/copies/near', which lies in, or around, '/twinhive/copies/near/x/other'",
            "other.yaml",
        ),
        with_placements(other={**PLACEMENT, "placement": "other", "root": "/twinhive/copies/near/x"}),
    ),
    Case(
        "placement: of a clusters.yaml that cannot be used",
        ("check", "near"),
        ("clusters.yaml cannot be used",),
        lambda desk: (with_placements()(desk), desk.policies.write("clusters.yaml", "clusters: [")),
    ),
    Case(
        "placement: below the warehouse",
        RUN,
        ("the directory hdfs://west/warehouse/managed/near is not apart from what tables and databases use",),
        lambda desk: (
            with_placements({**PLACEMENT, "root": "/warehouse/managed"})(desk),
            desk.world.source.configurations["east-metastore:9083"].update(
                {"metastore.warehouse.dir": "hdfs://west/warehouse/managed"}
            ),
        ),
    ),
    Case("placement: a directory of somebody else's", RUN, ("is somebody else's",), _foreign_directory),
    Case(
        "placement: its servers are asked before",
        ("check", "near", "--servers"),
        ("is somebody else's",),
        _foreign_directory,
    ),
    Case(
        "placement: a command about policies",
        ("forget", "near"),
        ("near is a placement: this command is about policies", "twinhive copies near"),
        with_placements(),
    ),
    Case(
        "placement: retired although a table has its data among the copies",
        ("retire", "near"),
        ("table sales.plain has its data among the copies of placement near",),
        _data_among_copies,
    ),
    Case(
        "clusters: another word than check",
        ("clusters", "chekc"),
        ("'chekc' is not known",),
        with_placements(),
        code=USAGE,
    ),
    Case(
        "placement: there is no such one", ("copies", "nowhere"), ("there is no placement nowhere",), with_placements()
    ),
    Case(
        "placement: a phase of policies",
        ("run", "near", "scan"),
        ("near is a placement",),
        with_placements(),
        code=USAGE,
    ),
    Case(
        "policy: a phase of placements",
        ("plan", "sales", "copies"),
        ("sales is a policy",),
        with_placements(),
        code=USAGE,
    ),
)

PLACEMENT_STEP_CASES = (
    (
        "placement: a list that is gone",
        lambda world: _open_no_list(world),
        "the list 000000000001-abc of placement sales is gone",
    ),
)


def _open_no_list(world: World) -> object:
    return open_list(world.replica_files, a_policy(), "000000000001-abc")
