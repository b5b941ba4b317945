"""What may be wrong where remotes and the gateway are run: the cluster, the file of who may, key files, ports."""

import socket
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.bad_input.case import USAGE, Case
from twinhive.cli.gateway import listening
from twinhive.model.endpoints import FileSystemEndpoint
from twinhive.remotes.access import Access, Allowed
from twinhive.settings.remotes import load_remotes
from twinhive.wiring.gateway import file_system_of

RemoteCase = tuple[str, Callable[[object], object], str]
_TWO = ("whose metastore is the local one", "--cluster")


def _file(content: str) -> object:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "remotes.yaml"
        path.write_text(content, encoding="utf-8")
        return load_remotes(path)


def _taken_port() -> object:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return listening("127.0.0.1", taken.getsockname()[1])


def _access(**more: Path) -> Access:
    return Access((Allowed("thrift", ("thrift://*.example:9083",)),), **more)


def _linked_key() -> object:
    with tempfile.TemporaryDirectory() as directory:
        (Path(directory) / "out").symlink_to("/etc/hostname")
        return _access(key_directory=Path(directory)).key_file("out")


REMOTE_COMMAND_CASES: tuple[Case, ...] = (
    Case("remotes: a cluster that is not there", ("remotes", "--cluster", "north"), ("there is no cluster north",)),
    Case("remotes: which of two clusters", ("remotes",), _TWO),
    Case("remotes: something else", ("remotes", "mend"), ("'mend' is not known; expected check",), code=USAGE),
    Case("remotes: check, and ask nobody", ("remotes", "check", "--no-ask"), ("asks nobody",), code=USAGE),
    Case("gateway: which of two clusters", ("gateway",), _TWO),
)
REMOTE_CASES: tuple[RemoteCase, ...] = (
    ("remotes.yaml: an unknown key", lambda _: _file("allowed: []"), "allowed: unknown key"),
    ("remotes.yaml: a rule without addresses", lambda _: _file("allow: [{connector: ssh}]"), "addresses: missing"),
    ("remotes.yaml: no YAML", lambda _: _file("{"), "not readable YAML"),
    ("remotes.yaml: a gateway without a port", lambda _: _file("gateways: [gate.example]"), "expected host:port"),
    ("remotes.yaml: a port that is none", lambda _: _file("gateways: ['gate.example:70000']"), "expected host:port"),
    ("gateway: a port that is taken", lambda _: _taken_port(), "cannot listen on"),
    (
        "access: an address that no rule has",
        lambda _: _access().rule_for("shop.t", "thrift", ["thrift://evil:9083"]),
        "shop.t may not be reached",
    ),
    (
        "access: one of several addresses",
        lambda _: _access().rule_for("far", "thrift", ["thrift://a.example:9083", "thrift://evil:9083"]),
        "far may not be reached",
    ),
    ("access: another connector", lambda _: _access().rule_for("far", "ssh", ["thrift://a.example:9083"]), "far may"),
    ("key file: no directory", lambda _: _access().key_file("id"), "may not be read"),
    ("key file: a path", lambda _: _access(key_directory=Path("/etc")).key_file("../etc/hostname"), "may not be read"),
    ("key file: a link that leads out", lambda _: _linked_key(), "may not be read"),
    (
        "iceberg: a path on no known file system",
        lambda _: file_system_of("hdfs://north/x", [FileSystemEndpoint("hdfs://east", {}, None)]),
        "no file system that is known",
    ),
)
