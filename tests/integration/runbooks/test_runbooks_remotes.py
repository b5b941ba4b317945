"""Follow the runbooks for remotes and gateways: stop, freeze and cut what they lead to; then do what the page says."""

import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import asyncssh
import pytest
from hive_metastore import ttypes

from sandbox import Sandbox
from sandbox.gateway import running_gateway
from sandbox.ports import free_ports
from tests.integration.damage import frozen
from tests.integration.remotes_desk import Desk, desk
from tests.support.policies import PolicyFiles
from tests.support.runbooks import Section, runbooks, says
from tests.support.servers.ssh_servers import running_ssh
from tests.support.users.warehouse import Warehouse
from tests.support.wire.wire_metastore import client_of
from twinhive.operations.monitoring.gateway_alerts import gateway_alerts
from twinhive.surfaces.airflow.monitor.watch_round import WatchedRemotes
from twinhive.surfaces.cli.app import run

pytestmark = pytest.mark.sandbox
__all__ = ["desk"]
WEST = "west-metastore"


@dataclass
class RemotesOnCall:
    """Look after a gateway with one remote, `far`, and one section of the page at hand."""

    desk: Desk
    section: Section
    capfd: pytest.CaptureFixture[str]
    port: int
    status: int
    _met: set[str] = field(default_factory=set)

    def read(self, text: str, *quoted: str) -> None:
        """Find in a text what the section quotes; `quoted` are some words of each line."""
        for words in quoted:
            line = self.section.line(words)
            assert says(text, line), f"the page quotes {line!r}; it says\n{text}"
            self._met.add(line)

    def unread(self) -> list[str]:
        """Return the lines that nobody has met."""
        return [line for line in self.section.quoted if line not in self._met]

    def monitor_says(self) -> str:
        """Return what the monitor finds wrong now, without its two minutes of patience."""
        directory = self.desk.config
        return "\n".join(str(one.error) for one in gateway_alerts(WatchedRemotes.now(directory).seen, time.time()))

    def remotes(self) -> dict[str, str]:
        """Type `twinhive remotes`; return the state of each name, with what is wrong."""
        self.capfd.readouterr()
        run(["remotes", "--cluster", "east", "--json", "--config", str(self.desk.config)])
        found = json.loads(self.capfd.readouterr().out)["remotes"]
        return {one["local"]: f"{one['state']}: {one['trouble']}" for one in found}

    def query(self) -> list[str]:
        """Be a user of the remote."""
        with client_of(self.port) as client:
            return list(client.get_all_tables(self.desk.far))

    def failed_query(self) -> str:
        """Be a user of the remote who gets an error; return it."""
        with client_of(self.port) as client:
            return self.failed_call(client)

    def failed_call(self, client: Any) -> str:
        with pytest.raises(ttypes.MetaException) as failed:
            client.get_all_tables(self.desk.far)
        return str(failed.value.message)

    def until(self, is_so: Callable[[], bool], what: str) -> None:
        for _ in range(120):
            if is_so():
                return
            time.sleep(0.5)
        raise AssertionError(what)

    def all_is_well(self) -> None:
        """It is over when: the monitor finds nothing, though no client has called."""
        self.until(lambda: not self.monitor_says(), "the monitor is red")
        assert "orders" in self.query()


@pytest.fixture
def ports() -> tuple[int, ...]:
    return tuple(free_ports(4))


@pytest.fixture
def oncall_remotes(
    desk: Desk,
    policies: PolicyFiles,
    ports: tuple[int, ...],
    capfd: pytest.CaptureFixture[str],
    request: pytest.FixtureRequest,
) -> Iterator[RemotesOnCall]:
    [title] = request.node.get_closest_marker("runbook").args
    failed = request.session.testsfailed
    policies.write("remotes.yaml", {"gateways": [f"127.0.0.1:{ports[1]}"]})
    person = RemotesOnCall(desk, runbooks()[title], capfd, ports[0], ports[1])
    yield person
    if request.session.testsfailed == failed:
        assert person.unread() == []


def _make_far(person: RemotesOnCall, more: str = "") -> None:
    person.desk.say(f"CREATE REMOTE DATABASE {{far}} CONNECTED TO {{sales}} {more or 'WITH DBPROPERTIES ({uris})'}")


@pytest.fixture
def gateway(oncall_remotes: RemotesOnCall) -> Iterator[None]:
    with running_gateway(oncall_remotes.desk.config, oncall_remotes.port, "--status-port", str(oncall_remotes.status)):
        yield


@pytest.mark.usefixtures("gateway")
@pytest.mark.runbook("A remote does not answer")
def test_a_remote_does_not_answer(oncall_remotes: RemotesOnCall, sandbox: Sandbox, west: Warehouse) -> None:
    person = oncall_remotes
    _make_far(person)
    person.all_is_well()
    sandbox.stop(WEST)
    try:
        for _ in range(3):
            person.read(person.failed_query(), "does not answer: ...; try again")
        person.read(person.monitor_says(), "does not answer the gateway", "no answer for")
        assert person.remotes()[person.desk.far].startswith("away: ")
        with client_of(person.port) as client:
            assert "own" in client.get_all_tables(person.desk.shop), "everything else is answered as ever"
    finally:
        sandbox.start(WEST)
        west.reconnect()
    assert person.remotes()[person.desk.far].startswith("there")
    person.all_is_well()


@pytest.mark.runbook("A tunnel is lost")
def test_a_tunnel_is_lost(oncall_remotes: RemotesOnCall, policies: PolicyFiles, sandbox: Sandbox) -> None:
    person = oncall_remotes
    keys = policies.directory / "keys"
    keys.mkdir()
    there = sandbox.clusters["west"]
    address = f"thrift://{there.metastore_host}:{there.metastore_port}"
    with running_ssh(keys, "ann") as ssh:
        [server] = ssh.servers
        rule = {"connector": "ssh", "addresses": [f"ssh://127.0.0.1:{server.port}", address]}
        gateways = [f"127.0.0.1:{person.status}"]
        policies.write("remotes.yaml", {"gateways": gateways, "key_directory": "keys", "allow": [rule]})
        with running_gateway(person.desk.config, person.port, "--status-port", str(person.status)):
            properties = (
                f"{{uris}}, 'ssh.tunnel.route' = '{server.hop}', 'ssh.tunnel.private.keys' = 'ann.pem', "
                "'ssh.tunnel.known.hosts' = 'known_hosts'"
            )
            _make_far(person, f"VIA 'ssh' WITH DBPROPERTIES ({properties})")
            person.all_is_well()
            ssh.lose()
            for _ in range(3):
                person.failed_query()
            person.read(person.monitor_says(), "no tunnel: hop")
            state = person.remotes()[person.desk.far]
            assert state.startswith("away: ") and "Connect call failed" in state
            ssh.come_back()
            assert person.remotes()[person.desk.far].startswith("there")
            person.all_is_well()
            known = (keys / "known_hosts").read_text(encoding="utf-8")
            ssh.lose()
            server.host_key = asyncssh.generate_private_key("ssh-ed25519")
            ssh.come_back()
            assert "Host key is not trusted" in person.remotes()[person.desk.far]
            (keys / "known_hosts").write_text(server.known, encoding="utf-8")
            assert server.known != known
            assert person.remotes()[person.desk.far].startswith("there")
            person.all_is_well()


@pytest.mark.usefixtures("gateway")
@pytest.mark.runbook("A breaker stays open")
def test_a_breaker_stays_open(oncall_remotes: RemotesOnCall, sandbox: Sandbox) -> None:
    person = oncall_remotes
    _make_far(person)
    person.all_is_well()
    with ExitStack() as held, ThreadPoolExecutor(3) as pool:
        clients = [held.enter_context(client_of(person.port, timeout=90)) for _ in range(3)]
        for client in clients:
            client.get_all_tables(person.desk.far)
        held.enter_context(frozen(sandbox, WEST))
        for said in pool.map(person.failed_call, clients):
            assert "no answer within 60 s" in said
        assert person.remotes()[person.desk.far].startswith("away: no answer within 10 s")
        # One call in ten seconds may still be let through.
        person.read("\n".join(person.failed_query() for _ in range(3)), "is not there for now")
        assert "no answer for" in person.monitor_says()
    person.all_is_well()


@pytest.mark.runbook("A gateway is down")
def test_a_gateway_is_down(oncall_remotes: RemotesOnCall, policies: PolicyFiles, ports: tuple[int, ...]) -> None:
    person = oncall_remotes
    gateways = [f"127.0.0.1:{port}" for port in (ports[1], ports[3])]
    policies.write("remotes.yaml", {"gateways": gateways})
    second = running_gateway(person.desk.config, ports[2], "--status-port", str(ports[3]))
    with second:
        with (
            pytest.raises(AssertionError, match="has ended with -9"),
            running_gateway(person.desk.config, person.port, "--status-port", str(person.status)) as first,
        ):
            _make_far(person)
            person.all_is_well()
            first.kill()
            first.wait()
            person.read(person.monitor_says(), "the gateway whose status port is")
            with client_of(ports[2]) as client:
                assert "orders" in client.get_all_tables(person.desk.far), "the next one answers"
        with running_gateway(person.desk.config, person.port, "--status-port", str(person.status)):
            person.all_is_well()
