"""Tunnels over two servers in this process: who is known, whose key opens, and what a lost one does."""

import asyncio
from pathlib import Path

import asyncssh
import pytest

from tests.support.servers.ssh_servers import SshServer, echo_server, ssh_servers
from twinhive.federation.connector_api.byte_links import ByteLink
from twinhive.federation.connectors import ssh
from twinhive.federation.connectors.ssh import SshConnector
from twinhive.federation.connectors.ssh_route import route_of
from twinhive.federation.connectors.thrift import MetastoreAddress


def _properties(servers: list[SshServer], port: int, **others: str) -> dict[str, str]:
    return {
        "hive.metastore.uris": f"thrift://127.0.0.1:{port}",
        "ssh.tunnel.route": " -> ".join(server.hop for server in servers),
        "ssh.tunnel.private.keys": ",".join(f"{server.user}.pem" for server in servers),
        "ssh.tunnel.known.hosts": "known_hosts",
    } | {key.replace("_", "."): value for key, value in others.items()}


async def _echoed(link: ByteLink, data: bytes) -> bytes:
    link.write(data)  # not drained: who is not read from does not read
    return await asyncio.wait_for(_read_all(link, len(data)), 10)


async def _read_all(link: ByteLink, count: int) -> bytes:
    data = b""
    while len(data) < count:
        came = await link.read()
        if not came:
            raise EOFError(data[:100])
        data += came
    return data


def _run(directory: Path, test, *users: str) -> None:
    async def all_of_it() -> None:
        async with ssh_servers(directory, *(users or ("ann", "bob"))) as servers, echo_server() as port:
            connector = SshConnector(lambda name: directory / name, opening_seconds=5)
            try:
                await test(connector, servers, port)
            finally:
                await connector.close()

    asyncio.run(all_of_it())


def test_two_hops_carry_bytes_both_ways(tmp_path: Path) -> None:
    async def test(connector, servers, port) -> None:
        link = await connector.open(_properties(servers, port))
        assert await _echoed(link, b"x" * 3_000_000) == b"x" * 3_000_000
        link.close()
        assert await asyncio.wait_for(link.read(), 5) == b""
        assert servers[0].forwarded == [("127.0.0.1", servers[1].port)]
        assert servers[1].forwarded == [("127.0.0.1", port)]

    _run(tmp_path, test)


def test_three_hops(tmp_path: Path) -> None:
    async def test(connector, servers, port) -> None:
        assert await _echoed(await connector.open(_properties(servers, port)), b"hello") == b"hello"

    _run(tmp_path, test, "ann", "bob", "cay")


def test_connections_share_a_tunnel(tmp_path: Path) -> None:
    async def test(connector, servers, port) -> None:
        links = await asyncio.gather(*(connector.open(_properties(servers, port)) for _ in range(10)))
        assert [await _echoed(link, b"hello") for link in links] == [b"hello"] * 10
        assert [len(server.connections) for server in servers] == [1, 1]

    _run(tmp_path, test)


def test_another_host_key_of_the_second_hop_is_refused(tmp_path: Path) -> None:
    async def test(connector, servers, port) -> None:
        other = asyncssh.generate_private_key("ssh-ed25519").export_public_key().decode()
        known = servers[0].known + f"[127.0.0.1]:{servers[1].port} {other}"
        (tmp_path / "known_hosts").write_text(known)
        with pytest.raises(ConnectionError, match=r"hop 2 of 2, bob@.*not trusted"):
            await connector.open(_properties(servers, port))
        assert servers[1].forwarded == []

    _run(tmp_path, test)


def test_a_host_that_nobody_knows_is_refused(tmp_path: Path) -> None:
    async def test(connector, servers, port) -> None:
        (tmp_path / "known_hosts").write_text("")
        with pytest.raises(ConnectionError, match=r"hop 1 of 2, ann@.*not trusted"):
            await connector.open(_properties(servers, port))
        assert servers[0].forwarded == []

    _run(tmp_path, test)


def test_the_key_of_another_hop_is_refused(tmp_path: Path) -> None:
    async def test(connector, servers, port) -> None:
        with pytest.raises(ConnectionError, match="hop 2 of 2, bob@"):
            await connector.open(_properties(servers, port, ssh_tunnel_private_keys="ann.pem,ann.pem"))

    _run(tmp_path, test)


@pytest.mark.parametrize("content", [None, b"", b"no key"])
def test_a_key_that_cannot_be_read_is_said(tmp_path: Path, content: bytes | None) -> None:
    async def test(connector, servers, port) -> None:
        if content is not None:
            (tmp_path / "odd.pem").write_bytes(content)
        with pytest.raises(ConnectionError, match="hop 1 of 2"):
            await connector.open(_properties(servers, port, ssh_tunnel_private_keys="odd.pem,bob.pem"))

    _run(tmp_path, test)


@pytest.mark.parametrize("dying", [0, 1])
def test_a_hop_that_dies_breaks_its_connections_and_is_reached_again(tmp_path: Path, dying: int) -> None:
    async def test(connector, servers, port) -> None:
        link = await connector.open(_properties(servers, port))
        assert await _echoed(link, b"hello") == b"hello"
        servers[dying].die()
        with pytest.raises((ConnectionError, EOFError)):
            await _echoed(link, b"again")
        link = await asyncio.wait_for(connector.open(_properties(servers, port)), 10)
        assert await _echoed(link, b"hello") == b"hello"

    _run(tmp_path, test)


def test_a_metastore_that_is_down_leaves_the_tunnel_open(tmp_path: Path) -> None:
    async def test(connector, servers, port) -> None:
        both = _properties(servers, port) | {"hive.metastore.uris": f"thrift://127.0.0.1:1,thrift://127.0.0.1:{port}"}
        assert await _echoed(await connector.open(both), b"hello") == b"hello"
        with pytest.raises(ConnectionError, match=r"thrift://127\.0\.0\.1:1 through ann@"):
            await connector.open(_properties(servers, 1))
        assert [len(server.connections) for server in servers] == [1, 1]

    _run(tmp_path, test)


def test_a_metastore_that_is_silent_leaves_time_for_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = ssh._stream

    async def silent_at_first(connection: asyncssh.SSHClientConnection, address: MetastoreAddress) -> ByteLink:
        if address.port == 1:
            await asyncio.sleep(60)
        return await stream(connection, address)

    monkeypatch.setattr(ssh, "_stream", silent_at_first)

    async def test(connector, servers, port) -> None:
        both = _properties(servers, port) | {"hive.metastore.uris": f"thrift://127.0.0.1:1,thrift://127.0.0.1:{port}"}
        link = await asyncio.wait_for(connector.open(both), 10)
        assert await _echoed(link, b"hello") == b"hello"
        with pytest.raises(ConnectionError, match=r"thrift://127\.0\.0\.1:1 through ann@.*: no connection within 2 s"):
            await connector.open(_properties(servers, 1))

    _run(tmp_path, test)


def test_a_silent_server_is_given_up(tmp_path: Path) -> None:
    async def test(connector, servers, port) -> None:
        async with asyncio.timeout(5):
            silent = await asyncio.start_server(lambda reader, writer: asyncio.sleep(60), "127.0.0.1", 0)
            place = silent.sockets[0].getsockname()[1]
            route = {"ssh.tunnel.route": f"ann@127.0.0.1:{place}", "ssh.tunnel.private.keys": "ann.pem"}
            properties = _properties(servers, port, ssh_tunnel_timeout="300") | route
            with pytest.raises(ConnectionError, match=r"within 0\.3 s"):
                await connector.open(properties)
            silent.close()

    _run(tmp_path, test)


def test_who_stops_waiting_does_not_end_the_tunnel_for_others(tmp_path: Path) -> None:
    async def test(connector, servers, port) -> None:
        first = asyncio.create_task(connector.open(_properties(servers, port)))
        second = asyncio.create_task(connector.open(_properties(servers, port)))
        await asyncio.sleep(0)
        first.cancel()
        assert await _echoed(await second, b"hello") == b"hello"

    _run(tmp_path, test)


def test_the_example_of_seed_004_is_read() -> None:
    route = route_of(
        {
            "ssh.tunnel.route": "bastionuser@bastion-host.domain -> user@cluster-node.domain",
            "ssh.tunnel.private.keys": "/home/user/.ssh/bastionuser-key-pair.pem,/home/user/.ssh/user-key-pair.pem",
            "ssh.tunnel.known.hosts": "/home/user/.ssh/known_hosts",
        },
        10,
    )

    assert str(route) == "bastionuser@bastion-host.domain:22 -> user@cluster-node.domain:22"
    assert [hop.key for hop in route.hops] == [
        "/home/user/.ssh/bastionuser-key-pair.pem",
        "/home/user/.ssh/user-key-pair.pem",
    ]
    assert route.seconds == 10


def test_the_place_names_all_that_is_reached_and_read() -> None:
    place = SshConnector(Path).place(
        {
            "hive.metastore.uris": "thrift://meta:9083",
            "ssh.tunnel.route": "ann@a->bob@[::1]:2222",
            "ssh.tunnel.private.keys": "a.pem, b.pem",
            "ssh.tunnel.known.hosts": "known",
            "ssh.tunnel.localhost": "localhost",
        }
    )

    assert place.addresses == ("ssh://a:22", "ssh://[::1]:2222", "thrift://meta:9083")
    assert place.files == ("a.pem", "b.pem", "known")
    assert place.name == "thrift://meta:9083 through ann@a:22 -> bob@::1:2222"
