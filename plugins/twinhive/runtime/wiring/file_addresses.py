"""Find the file system that an address given by a person means, and how to reach it."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from xml.etree import ElementTree

from twinhive.core.model.endpoints import FileSystemEndpoint
from twinhive.core.model.errors import InvalidSettings

_URI = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<authority>[^/]*)(?P<path>/.*)?", re.DOTALL)
_OF_CLUSTER = re.compile(r"(?P<cluster>[A-Za-z0-9_-]+):(?P<path>/.*)", re.DOTALL)
_SITE_FILES = ("core-site.xml", "hdfs-site.xml")


@dataclass(frozen=True)
class FileAddress:
    """A file or directory, as a full URI, and the file system that it is on."""

    endpoint: FileSystemEndpoint
    uri: str


@dataclass(frozen=True)
class AddressBook:
    """Know the clusters of a configuration by name and by their file system's root, and the site files of this machine.

    `properties` are Hadoop properties that hold everywhere, `user` who we are everywhere; both win over what is
    configured. `unusable` says of clusters why they cannot be used.
    """

    clusters: Mapping[str, FileSystemEndpoint] = field(default_factory=dict)
    site: Mapping[str, str] = field(default_factory=dict)
    properties: Mapping[str, str] = field(default_factory=dict)
    user: str | None = None
    unusable: Mapping[str, str] = field(default_factory=dict)

    def find(self, text: str) -> FileAddress:
        """Return what `hdfs://nn:8020/path`, `cluster:/path` or `/path` means. Raises InvalidSettings."""
        if uri := _URI.fullmatch(text):
            return self._of_uri(text, uri)
        if named := _OF_CLUSTER.fullmatch(text):
            return self._of_cluster(text, named["cluster"], named["path"])
        default = self.site.get("fs.defaultFS", "")
        if text.startswith("/") and default:
            return self._of_uri(text, _match(default.rstrip("/") + text))
        raise InvalidSettings(
            f"{text!r} names no file system",
            found="no scheme, no cluster" if default else "no scheme, no cluster, no fs.defaultFS",
            expected="hdfs://namenode:8020/path, CLUSTER:/path with a cluster of clusters.yaml, or file:///path; "
            "/path alone with HADOOP_CONF_DIR set to a directory whose core-site.xml has fs.defaultFS",
            next_step="write the address in full",
        )

    def _of_uri(self, text: str, uri: re.Match[str]) -> FileAddress:
        root = f"{uri['scheme']}://{uri['authority']}"
        path = _plain(text, uri["path"] or "/")
        for endpoint in self.clusters.values():
            if endpoint.root == root:
                return self._address(endpoint, path)
        return self._address(FileSystemEndpoint(root, self.site, None), path)

    def _of_cluster(self, text: str, name: str, path: str) -> FileAddress:
        if name not in self.clusters:
            if name == "file":
                return self._address(FileSystemEndpoint("file://", self.site, None), _plain(text, path))
            raise InvalidSettings(
                f"{text!r}: there is no cluster {name} that can be used",
                found=self.unusable.get(name, f"no cluster {name}"),
                expected=f"one of {', '.join(sorted(self.clusters)) or '(no clusters.yaml found)'}",
                next_step="correct the address, or name the configuration with --config",
            )
        return self._address(self.clusters[name], _plain(text, path))

    def _address(self, endpoint: FileSystemEndpoint, path: str) -> FileAddress:
        properties = {**endpoint.properties, **self.properties}
        endpoint = replace(endpoint, properties=properties, user=self.user or endpoint.user)
        return FileAddress(endpoint, endpoint.root + path)


def _match(text: str) -> re.Match[str]:
    found = _URI.fullmatch(text)
    if found is None:
        raise InvalidSettings(
            "fs.defaultFS of core-site.xml cannot be used",
            found=text,
            expected="scheme://authority, such as hdfs://namenode:8020",
            next_step="correct core-site.xml in HADOOP_CONF_DIR, or write addresses in full",
        )
    return found


def _plain(text: str, path: str) -> str:
    """Return a path without doubled and trailing slashes; `.` and `..` mean different things to different stores."""
    parts = [part for part in path.split("/") if part]
    if "." in parts or ".." in parts:
        raise InvalidSettings(
            f"{text!r} cannot be used",
            found="a component . or ..",
            expected="an absolute path",
            next_step="write the path out",
        )
    return "/" + "/".join(parts)


def read_site(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the properties of the files in `HADOOP_CONF_DIR`, {} without one. Raises InvalidSettings."""
    directory = environment.get("HADOOP_CONF_DIR")
    if not directory:
        return {}
    found: dict[str, str] = {}
    for name in _SITE_FILES:
        path = Path(directory, name)
        if path.exists():
            found |= _read_xml(path)
    return found


def _read_xml(path: Path) -> dict[str, str]:
    try:
        # A file of this machine's administrator.
        tree = ElementTree.parse(path)  # noqa: S314
    except (OSError, ElementTree.ParseError) as error:
        raise InvalidSettings(
            f"{path} cannot be read",
            found=error,
            expected="XML as Hadoop reads it",
            next_step="correct it, or set HADOOP_CONF_DIR to another directory",
        ) from error
    entries = ((entry.findtext("name"), entry.findtext("value")) for entry in tree.iter("property"))
    return {name.strip(): (value or "").strip() for name, value in entries if name}
