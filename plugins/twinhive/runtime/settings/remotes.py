"""What `remotes.yaml` says: what users may connect to with remotes (seed 004)."""

import re
from pathlib import Path
from typing import Annotated

import yaml
from pydantic import AfterValidator, Field

from twinhive.core.model.errors import InvalidSettings
from twinhive.runtime.settings.configuration_loading import read_yaml, told_by
from twinhive.runtime.settings.problems import explain
from twinhive.runtime.settings.value_kinds import Strict
from twinhive.runtime.settings.watch_settings import NotificationSettings


def _host_and_port(given: str) -> str:
    host, _, port = given.rpartition(":")
    if not re.fullmatch(r"[^\s/]+", host) or not re.fullmatch(r"[0-9]{1,5}", port) or not 0 < int(port) < 65_536:
        raise ValueError("expected host:port")
    return given


StatusAddress = Annotated[str, AfterValidator(_host_and_port)]


class AllowedSettings(Strict):
    """One rule."""

    connector: str = "thrift"
    """`thrift`, `ssh`, `glue`, `iceberg`, or the name of a connector of your own"""
    addresses: Annotated[tuple[str, ...], Field(min_length=1)]
    """what it may connect to, as `twinhive remotes` shows it (`thrift://host:port`); `*` stands for any characters. All
    addresses of a remote have to be in one rule"""
    identity: str = "caller"
    """as whom: `caller` passes the client's user on, anything else is the name of a user"""


class RemotesFile(Strict):
    """The whole file."""

    clusters: bool = True
    """the metastores of `clusters.yaml` may be reached, by connector `thrift`, as the caller; what `allow[]` says of
    them comes first"""
    allow: tuple[AllowedSettings, ...] = ()
    """what else may be reached; the first rule that holds counts"""
    gateways: tuple[StatusAddress, ...] = ()
    """the status ports of the gateways (`host:port`, `--status-port` of `twinhive gateway`): Airflow's page shows what
    they say, and `twinhive.monitor` watches them"""
    notifications: NotificationSettings = NotificationSettings()
    """who is told of a gateway or a remote that does not answer"""
    key_directory: str | None = None
    """the directory of private keys and known hosts; definitions name files in it, without a path"""


def load_remotes(path: Path) -> RemotesFile:
    """Read the file; without one nothing is allowed but the clusters. Raises InvalidSettings."""
    if not path.exists() and not path.is_symlink():
        return RemotesFile()
    try:
        content = read_yaml(path)
        return RemotesFile.model_validate({} if content is None else content)
    except (OSError, yaml.YAMLError, ValueError) as error:
        raise InvalidSettings(
            explain(path, error, RemotesFile),
            found=path,
            expected="rules as docs/remotes.md describes them",
            next_step=f"correct {path.name}; until then no remote is reached",
        ) from error


def told_of_remotes(path: Path) -> NotificationSettings:
    """Return who is to be told that the file cannot be used, as far as it says so."""
    try:
        return told_by(read_yaml(path))
    except (OSError, yaml.YAMLError, ValueError):
        return NotificationSettings()
