"""What people see of remotes in a terminal: whether they answer, what they are, whether their twins equal them."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.policy_terminal import Terminal
from tests.support.servers.running_gateway import RunningGateway
from tests.support.wire.wire_metastore import Contents, WireMetastore
from twinhive.core.model.errors import InvalidSettings
from twinhive.core.model.files import FileStatus
from twinhive.core.model.names import TableName
from twinhive.core.model.remotes.definitions import Definition, Definitions, RemoteDatabase, RemoteTable
from twinhive.federation.gateway.isolation import RemoteLimits
from twinhive.runtime.wiring.gateway_wiring import RemotesWiring
from twinhive.runtime.wiring.policy_wiring import Wiring

FAR = RemoteLimits(connect=1, call=1)


class Remotes:
    """A terminal of which east's metastore also answers on a port, and the local one, west, defines remotes of it."""

    def __init__(self, terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
        self.terminal, self.contents = terminal, Contents("east")
        self.contents.log_id = terminal.world.source.log_id()
        self.contents.add("sales", "plain")
        self.contents.add("sales", "outside")
        self.server = WireMetastore(self.contents)
        self.defined: list[Definition] = []
        monkeypatch.setattr(RemotesWiring, "definitions", lambda _: self._definitions())
        for name, port in (("EAST", self.server.port), ("WEST", 1)):
            found = {"conn_type": "hive_metastore", "host": "127.0.0.1", "port": port}
            monkeypatch.setenv(f"AIRFLOW_CONN_{name}_METASTORE", json.dumps(found))
        allowed = [{"connector": "thrift", "addresses": ["thrift://127.0.0.1:*", "thrift://localhost:*"]}]
        terminal.policies.write("remotes.yaml", {"clusters": False, "allow": allowed})

    def define(self, local: str, remote: str, host: str = "127.0.0.1", port: int | None = None) -> None:
        """Define a remote; a name with a dot is a table's."""
        told = {"hive.metastore.uris": f"thrift://{host}:{port or self.server.port}"}
        if "." in local:
            self.defined.append(RemoteTable(TableName.parse(local), TableName.parse(remote), properties=told))
        else:
            self.defined.append(RemoteDatabase(local, remote, properties=told))

    def check(self, code: int = 0) -> str:
        return self.terminal.type("remotes", "check", "--cluster", "west", code=code)

    def document(self, code: int = 0) -> list[dict[str, Any]]:
        found = self.terminal.document("remotes", "check", "--cluster", "west", code=code)
        return list(found["remotes"])

    def _definitions(self) -> Definitions:
        tables = {one.local: one for one in self.defined if isinstance(one, RemoteTable)}
        return Definitions(tables, {one.local: one for one in self.defined if isinstance(one, RemoteDatabase)})

    def damage(self) -> None:
        """Change the replica by hand."""
        name, replica = self.terminal.users.name("plain"), self.terminal.world.replica
        there = replica.table(name)
        replica.alter_table(name, there.with_parameters({**there.parameters, "by": "hand"}))


@pytest.fixture
def remotes(published: Terminal, monkeypatch: pytest.MonkeyPatch) -> Iterator[Remotes]:
    made = Remotes(published, monkeypatch)
    yield made
    made.contents.gate.set()
    made.server.close()


def test_a_remote_whose_twin_equals_it(remotes: Remotes) -> None:
    remotes.define("shop.bought", "sales.plain")
    said = remotes.check()
    assert "shop.bought: EXTERNAL_TABLE, hdfs://east/sales/plain, metastore " in said
    assert "shop.bought: twin west/sales.plain (policy sales): equal at event" in said
    (row,) = remotes.document()
    assert (row["state"], row["remote_kind"], row["location"]) == ("there", "EXTERNAL_TABLE", "hdfs://east/sales/plain")
    (twin,) = row["twins"]
    assert (twin["equal"], twin["verified"]["since"]) == (True, None)


def test_a_twin_that_differs_says_since_when_and_turns_from_try_again_to_act_now(remotes: Remotes) -> None:
    remotes.define("shop.bought", "sales.plain")
    remotes.define("shop.other", "sales.outside")
    remotes.damage()
    bought, other = remotes.document(code=3)
    assert other["twins"][0]["equal"], "another table says nothing of it"
    (twin,) = bought["twins"]
    assert (twin["verified"]["suspected"], twin["verified"]["found"]) == (1, 0)
    remotes.terminal.policies.add(
        "sales", external_tables={"base_directory": "hdfs://west/external"}, options={"second_look_seconds": 0}
    )
    (again,) = remotes.document(code=4)[0]["twins"]
    assert (again["verified"]["found"], again["verified"]["since"]) == (1, twin["verified"]["since"])
    assert "NOT EQUAL" in remotes.check(code=4)


def test_a_remote_database_is_compared_as_a_whole(remotes: Remotes) -> None:
    remotes.define("far", "sales")
    assert "far: twin west/sales (policy sales): equal" in remotes.check()
    remotes.damage()
    assert "1 difference at event" in remotes.check(code=3)


def test_what_the_policy_leaves_out_asks_nothing_of_anybody(remotes: Remotes) -> None:
    remotes.terminal.policies.add("sales", external_tables={"include": False})
    remotes.define("shop.other", "sales.outside")
    assert "the policy leaves it out" in remotes.check()


def test_what_is_verified_of_one_table_is_not_the_replicas_verification(remotes: Remotes) -> None:
    remotes.define("shop.other", "sales.outside")
    remotes.damage()
    remotes.terminal.type("verify", "sales", code=3)
    before = remotes.terminal.type("status", "sales")
    assert "1 difference at event" in before
    remotes.check()
    assert "1 difference at event" in remotes.terminal.type("status", "sales")


def test_a_metastore_is_known_by_its_identity_not_by_its_address(remotes: Remotes) -> None:
    remotes.define("shop.bought", "sales.plain", host="localhost")
    (row,) = remotes.document()
    assert [one["equal"] for one in row["twins"]] == [True]
    remotes.contents.log_id = "another metastore with the same names"
    (row,) = remotes.document()
    assert row["twins"] == []


def test_a_remote_that_is_gone_and_one_that_never_answers_harm_no_other(
    remotes: Remotes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("twinhive.surfaces.cli.remote.remote_command.RemoteLimits", lambda: FAR)
    silent = Contents("silent")
    silent.gate.clear()
    server = WireMetastore(silent)
    remotes.define("shop.bought", "sales.plain")
    remotes.define("shop.gone", "sales.gone")
    remotes.define("shop.silent", "sales.plain", port=server.port)
    try:
        found = {one["local"]: one for one in remotes.document(code=4)}
    finally:
        silent.gate.set()
        server.close()
    assert {name: one["state"] for name, one in found.items()} == {
        "shop.bought": "there",
        "shop.gone": "missing",
        "shop.silent": "away",
    }
    assert "no answer within 1 s" in str(found["shop.silent"]["trouble"])
    assert found["shop.bought"]["twins"][0]["equal"]
    (gone,) = found["shop.gone"]["twins"]
    assert (gone["equal"], gone["verified"]) == (False, None)
    assert found["shop.silent"]["twins"] == []


def test_a_twin_that_cannot_be_compared_is_to_be_tried_again(remotes: Remotes) -> None:
    remotes.define("shop.bought", "sales.plain")
    remotes.terminal.world.replica.down = True
    (row,) = remotes.document(code=3)
    assert (row["state"], row["twins"][0]["verified"]) == ("there", None)
    assert row["twins"][0]["trouble"]


def test_a_remote_that_is_a_circle_ends(remotes: Remotes) -> None:
    remotes.contents.databases.append("loop")  # a remote database is one of the local metastore, too
    there: dict[str, RemoteDatabase] = {}
    gateway = RunningGateway(remotes.server.port, Definitions(databases=there))
    there["loop"] = RemoteDatabase("loop", "loop", properties={"port": str(gateway.port)})
    try:
        remotes.define("loop", "loop", port=gateway.port)
        (row,) = remotes.document(code=4)
    finally:
        gateway.stop()
    assert row["state"] == "missing"
    assert "circle of gateways" in str(row["trouble"])


def test_names_are_data(remotes: Remotes) -> None:
    remotes.contents.databases.append("a[red]b'c`d")
    remotes.define("größe[/]`x'y", "a[red]b'c`d")
    remotes.define("shop.t\x1b[2j", "sales.plain")
    said = remotes.check()
    assert "\x1b" not in said
    assert "größe[/]" in said
    assert {one["local"] for one in remotes.document()} == {"größe[/]`x'y", "shop.t\x1b[2j"}


def test_nothing_secret_is_printed(remotes: Remotes) -> None:
    secret = "hush-hush"
    remotes.define("far", "sales")
    properties = {"hive.metastore.uris": f"thrift://reader:{secret}@127.0.0.1:1", "token": secret}
    remotes.defined.append(RemoteDatabase("odd", "sales", properties=properties))
    for words in ((), ("--json",)):
        said = remotes.terminal.type("remotes", "check", "--cluster", "west", *words, code=4)
        assert secret not in said


def test_only_policies_of_the_same_names_are_asked_who_their_source_is(
    remotes: Remotes, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    for name in ("orders", "stock"):
        sides = {
            side: {"cluster": cluster, "database": name} for side, cluster in (("source", "east"), ("replica", "west"))
        }
        remotes.terminal.policies.write(f"policies/{name}.yaml", {"policy": name, **sides})
    monkeypatch.setattr(
        Wiring, "write_ports", lambda wiring: asked.append(wiring.policy.name) or remotes.terminal.world.ports()
    )
    remotes.define("shop.bought", "sales.plain")
    remotes.define("shop.away", "stock.plain", port=1)
    remotes.check(code=4)
    assert asked == ["sales"], "nothing is known of the metastore of a remote that is away"


def test_a_policy_that_cannot_be_used_is_named_and_harms_no_other(remotes: Remotes) -> None:
    remotes.define("shop.bought", "sales.plain")
    remotes.terminal.policies.write("policies/odd.yaml", {"policy": "odd"})
    (row,) = remotes.document()
    assert row["twins"][0]["policy"] == "sales"


def test_who_may_change_a_remotes_files_is_said_by_the_rights_on_their_directories(
    remotes: Remotes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a gateway refuses keeps nobody from files: an INSERT OVERWRITE deletes them before its first call."""
    rights = {"plain": (0o755, False), "outside": (0o777, False), "third": (0o775, True), "fourth": (0o775, True)}
    for name in ("third", "fourth", "gone", "elsewhere"):
        remotes.contents.add("sales", name)
    remotes.contents.add_view("sales", "seen", "SELECT 1")

    class Files:
        def status(self, path: str) -> FileStatus | None:
            mode, has_acl = rights.get(path.rpartition("/")[2], (None, False))
            if mode is None:
                return None
            return FileStatus(path, 0, 0, True, owner="hive", group="staff", permission=mode, has_acl=has_acl)

    def files_at(_: RemotesWiring, path: str) -> Files:
        if path.endswith("elsewhere"):
            raise InvalidSettings("it is on no file system that is known here")
        return Files()

    monkeypatch.setattr(RemotesWiring, "files_at", files_at)
    remotes.define("far", "sales")
    remotes.define("shop.bought", "sales.plain")
    said = remotes.check()
    may = "files may be changed by"
    always = "whatever the gateway refuses"
    assert f"far: {may} user hive (rwxr-xr-x hive:staff), {always}: plain" in said
    assert f"far: {may} every user (rwxrwxrwx hive:staff), {always}: outside" in said
    acl = "user hive and group staff and whom the ACL names"
    assert f"far: {may} {acl} (rwxrwxr-x hive:staff), {always}: fourth, third" in said
    assert "far: who may change files was not looked at: elsewhere: it is on no file system" in said
    assert "far: who may change files was not looked at: gone: their directories are not there" in said
    assert f"shop.bought: {may} user hive (rwxr-xr-x hive:staff), {always}: plain" in said
    assert "seen" not in said
    far, bought = remotes.document()
    assert [one["may_write"] for one in bought["file_rights"]] == ["user hive"]
    assert [one.partition(":")[0] for one in far["files_not_looked_at"]] == ["elsewhere", "gone"]
