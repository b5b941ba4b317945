"""Cases of configuration files: one for each rule of their models, and for what files may not say together."""

from collections.abc import Callable, Iterator
from typing import Any

import yaml

from tests.bad_input.case import Case
from tests.bad_input.desk import Desk
from tests.bad_input.schema_rules import SchemaRule, broken, put, schema_rules
from twinhive.runtime.settings.clusters import ClusterSettings
from twinhive.runtime.settings.policies import PolicySettings

POLICY = {
    "policy": "sales",
    "source": {"cluster": "east", "database": "sales"},
    "replica": {"cluster": "west", "database": "sales"},
}
CHECK = ("check", "sales")
_FOUND = {"required": "missing", "no other keys": "unknown key, expected one of"}


def policy_cases() -> Iterator[Case]:
    """Break each rule of a policy file."""
    for rule in schema_rules(PolicySettings):
        yield _case("policy", rule, _policy_with(put(POLICY, rule.place, broken(rule))))


def cluster_cases() -> Iterator[Case]:
    """Break each rule of a cluster."""
    for rule in schema_rules(ClusterSettings):
        yield _case("cluster", rule, _cluster_with(rule, broken(rule)))


def _case(what: str, rule: SchemaRule, spoil: Callable[[Desk], None]) -> Case:
    place = (*(("clusters", "east") if what == "cluster" else ()), *rule.place)
    key = ".".join([*place, *(["colour"] if rule.kind == "no other keys" else [])])
    said = _FOUND.get(rule.kind, "found")
    if not place:
        key = {"type": "(whole file)", "no other keys": "colour"}[rule.kind]
    return Case(f"{what}: {rule}", ("check",), (f"{key}: {said}", "expected"), spoil, rule=f"{what} {rule}")


def _policy_with(document: Any) -> Callable[[Desk], None]:
    return lambda desk: desk.policies.write("policies/sales.yaml", document)


def _cluster_with(rule: SchemaRule, value: Any) -> Callable[[Desk], None]:
    def spoil(desk: Desk) -> None:
        document = yaml.safe_load((desk.policies.directory / "clusters.yaml").read_text())
        east = document["clusters"]["east"]
        if "uris" in rule.place:
            east = {**east, "metastore": {}}
        if rule.place == ("file_system", "uri"):
            east = {**east, "file_system": {}}
        document["clusters"]["east"] = put(east, rule.place, value)
        desk.policies.write("clusters.yaml", document)

    return spoil


def _write(name: str, content: Any) -> Callable[[Desk], None]:
    return lambda desk: desk.policies.write(name, content)


def _with_north(*, default: str | None = None, **metastore: Any) -> Callable[[Desk], None]:
    """Return what adds a cluster without a metastore of its own."""

    def spoil(desk: Desk) -> None:
        document = yaml.safe_load((desk.policies.directory / "clusters.yaml").read_text())
        document["clusters"]["north"] = {**document["clusters"]["east"], "metastore": metastore}
        desk.policies.write("clusters.yaml", {**document, "default_cluster": default})

    return spoil


def _with_ports(of_east: int | None, of_north: int) -> Callable[[Desk], None]:
    """Return what lets two clusters over one metastore have ports of the gateway."""

    def spoil(desk: Desk) -> None:
        document = yaml.safe_load((desk.policies.directory / "clusters.yaml").read_text())
        east = document["clusters"]["east"]
        document["clusters"]["north"] = {**east, "metastore": {"of": "east"}, "gateway": {"port": of_north}}
        document["clusters"]["east"] = {**east, "gateway": {"port": of_east}}
        desk.policies.write("clusters.yaml", document)

    return spoil


def _on_a_shared_metastore(policy: Any) -> Callable[[Desk], None]:
    def spoil(desk: Desk) -> None:
        _with_north(of="east")(desk)
        desk.policies.write("policies/sales.yaml", policy)

    return spoil


def _without_policies(desk: Desk) -> None:
    for path in (desk.policies.directory / "policies").iterdir():
        path.unlink()


def _not_utf8(desk: Desk) -> None:
    (desk.policies.directory / "policies" / "sales.yaml").write_bytes("policy: Z\xfcrich".encode("latin-1"))


def _another_policy(**changes: Any) -> Callable[[Desk], None]:
    return _write("policies/another.yaml", {**POLICY, "policy": "another", **changes})


FILE_CASES = (
    Case(
        "policy: no YAML",
        ("check",),
        ("sales.yaml cannot be used", "not readable YAML"),
        _write("policies/sales.yaml", "policy: ["),
    ),
    Case(
        "policy: empty",
        ("check",),
        ("(whole file): found None, expected keys: policy",),
        _write("policies/sales.yaml", ""),
    ),
    Case("policy: not UTF-8", ("check",), ("not readable YAML",), _not_utf8),
    Case(
        "policy: a cluster that clusters.yaml does not have",
        ("check",),
        ("source.cluster: found 'north', expected one of east, west",),
        _write("policies/sales.yaml", {**POLICY, "source": {"cluster": "north", "database": "sales"}}),
        rule="unknown_clusters",
    ),
    *(
        Case(
            f"policy: a {side} on a cluster that shares the metastore of another",
            ("check",),
            (f"{side}.cluster: found 'north', which shares the metastore of east, expected east",),
            _on_a_shared_metastore({**POLICY, side: {"cluster": "north", "database": "sales"}}),
            rule="shared_metastores",
        )
        for side in ("source", "replica")
    ),
    Case(
        "policy: into itself",
        ("check",),
        ("replica: found the source itself (east/sales), expected another database",),
        _write("policies/sales.yaml", {**POLICY, "replica": POLICY["source"]}),
        rule="replica_is_source",
    ),
    *(
        Case(
            f"policy: hive_conf {name}",
            ("check",),
            (f"hive_conf.{key}: found", says),
            _write("policies/sales.yaml", {**POLICY, "hive_conf": {key: value}}),
            rule="wrong_hive_conf",
        )
        for name, key, value, says in (
            ("misspelt", "hive.repl.rotdir", "/r", "an unknown key, expected hive.repl.rootdir"),
            ("without use here", "distcp.options.m", "9", "an engine of our own, expected a key of docs/hive-keys.md"),
            ("with a wrong value", "hive.repl.dumpdir.ttl", "1 week", "'1 week', expected duration"),
        )
    ),
    Case(
        "policy: failover.reverse of a name that is too long",
        ("check",),
        ("policy: found 98 letters, expected at most 95",),
        _write("policies/sales.yaml", {**POLICY, "policy": "s" * 98, "failover": {"reverse": {}}}),
        rule="no_name_for_the_reverse",
    ),
    *(
        Case(
            f"policy: failover {name}",
            ("check",),
            (says,),
            _write("policies/sales.yaml", {**POLICY, "failover": said}),
            rule="fence_without_a_command",
        )
        for name, said, says in (
            ("by no command", {"fence": ["command"]}, "failover.close_command: found none"),
            ("by a command that nothing runs", {"close_command": ["stop"]}, "failover.fence: found no 'command'"),
        )
    ),
    Case(
        "policies: of one name",
        ("check",),
        ("several policies have the same name sales: another.yaml, sales.yaml", "expected one policy alone"),
        _another_policy(policy="sales", replica={"cluster": "west", "database": "other"}),
        rule="same_name",
    ),
    Case(
        "policies: into one database",
        ("check", "sales"),
        ("the same replica database west/sales: another.yaml, sales.yaml", "expected one policy alone"),
        _another_policy(),
        rule="same_replica",
    ),
    Case(
        "clusters: no YAML",
        ("check",),
        ("clusters.yaml cannot be used", "not readable YAML"),
        _write("clusters.yaml", "clusters: ["),
    ),
    Case(
        "clusters: no such file",
        ("check",),
        ("clusters.yaml cannot be used", "the file does not exist"),
        lambda desk: (desk.policies.directory / "clusters.yaml").unlink(),
    ),
    Case(
        "clusters: another key",
        ("check",),
        ("cluster: unknown key, expected one of clusters, default_cluster",),
        _write("clusters.yaml", {"cluster": {}}),
    ),
    Case(
        "clusters: no mapping",
        ("check",),
        ("(whole file): found ['a'], expected keys: clusters, default_cluster",),
        _write("clusters.yaml", ["a"]),
    ),
    Case(
        "clusters: the metastore of no cluster",
        ("check",),
        ("clusters.north.metastore.of: found 'esat', expected a cluster with a metastore of its own: east, west",),
        _with_north(of="esat"),
    ),
    Case(
        "clusters: the metastore of itself",
        ("check",),
        ("clusters.north.metastore.of: found 'north', expected a cluster with a metastore of its own",),
        _with_north(of="north"),
    ),
    Case(
        "clusters: the metastore of another, and more said of it",
        ("check",),
        ("clusters.north.metastore", "is said where the cluster is that it is of"),
        _with_north(of="east", user="hive"),
    ),
    Case(
        "clusters: one port for two",
        ("check",),
        ("clusters.north.gateway.port: found 9193, expected another one than that of east",),
        _with_ports(9193, 9193),
    ),
    Case(
        "clusters: a port that is none",
        ("check",),
        ("clusters.north.gateway.port: found 70000, expected 1 to 65,535",),
        _with_ports(9193, 70_000),
    ),
    Case(
        "clusters: the gateway's own port for a cluster",
        ("gateway", "--cluster", "east", "--port", "9193"),
        ("the port of cluster north is the gateway's own one", "clusters.north.gateway.port: 9193", "name another"),
        _with_ports(None, 9193),
    ),
    Case(
        "clusters: a default cluster that is none",
        ("check",),
        ("default_cluster: found 'south', expected one of east, north, west",),
        _with_north(of="east", default="south"),
    ),
    Case(
        "clusters: a statement to one without a metastore",
        ("sql", "--cluster", "north", "REPL STATUS sales"),
        ("names a cluster that has no metastore of its own", "north, which shares that of east", "name east instead"),
        _with_north(of="east"),
    ),
    Case(
        "clusters: for a copy",
        ("copy", "east:/data/a", "west:/b"),
        ("clusters.yaml cannot be used",),
        _write("clusters.yaml", {"clusters": 1}),
    ),
    Case("files: none that is for anything", ("check",), ("says nothing that is to be done",), _without_policies),
)
