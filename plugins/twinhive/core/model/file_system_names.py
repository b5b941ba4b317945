"""The names of one file system: a nameservice, and the addresses of its NameNodes, as older locations have them."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

_HDFS = "hdfs://"
_PORT = "8020"
"""Hadoop's, of an address that names none (`HdfsClientConfigKeys.DFS_NAMENODE_RPC_PORT_DEFAULT`)."""
_ADDRESS = "dfs.namenode.rpc-address"


def other_names(root: str, properties: Mapping[str, str], listed: Iterable[str] = ()) -> tuple[str, ...]:
    """Return what else a file system is called: what people list, and what properties of Hadoop's client tell.

    A NameNode at port 8020 is called so with the port and without it.
    """
    found = {name for one in listed for name in _spellings(one.rstrip("/"))}
    mine = set(_spellings(root))
    for service, addresses in _services(properties):
        names = {*_spellings(_HDFS + service), *(name for one in addresses for name in _spellings(_HDFS + one))}
        if not {one.lower() for one in mine}.isdisjoint(one.lower() for one in names):
            found |= names
    return tuple(sorted((found | mine) - {root}))


def _services(properties: Mapping[str, str]) -> Iterator[tuple[str, list[str]]]:
    """Yield each nameservice with the addresses of its NameNodes."""
    names = [one.strip() for one in properties.get("dfs.nameservices", "").split(",")]
    for service in filter(None, names):
        members = properties.get(f"dfs.ha.namenodes.{service}", "").split(",")
        keys = [f"{_ADDRESS}.{service}", *(f"{_ADDRESS}.{service}.{one.strip()}" for one in members)]
        yield service, [address for key in keys if (address := properties.get(key, "").strip())]


def _spellings(name: str) -> tuple[str, ...]:
    """Return an address with Hadoop's port and without it; one with another port is what it is."""
    if not name.lower().startswith(_HDFS):
        return (name,)
    host, colon, port = name[len(_HDFS) :].partition(":")
    return (name,) if colon and port != _PORT else (_HDFS + host, f"{_HDFS}{host}:{_PORT}")


def by_one_name(location: str, systems: "Iterable[OneFileSystem]") -> str:
    """Return a location by the one name of whichever of these file systems it is on."""
    for one in systems:
        location = one.named(location)
    return location


@dataclass(frozen=True)
class OneFileSystem:
    """A file system by its one name, and the others that stand for it."""

    root: str
    others: tuple[str, ...]

    def named(self, location: str) -> str:
        """Return a location by the one name."""
        return self._beginning.sub(self.root, location, count=1) if self.others else location

    def named_within(self, text: str) -> str:
        """Return JSON whose texts begin with the one name, or have it behind a `#`, as lists of files do."""
        return self._within.sub(self.root, text) if self._may_be_named_otherwise(text) else text

    def _may_be_named_otherwise(self, text: str) -> bool:
        """Take a first look, a tenth of the work: nearly all texts have the one name alone, or none."""
        lowered = text.lower()
        if lowered.count(self.root.lower()) > text.count(self.root):
            return True
        return any(lowered.count(name) > (lowered.count(longer) if longer else 0) for name, longer in self._looks)

    @property
    def _any(self) -> str:
        # The one name too: whatever letters it is written in.
        longest_first = sorted((self.root, *self.others), key=len, reverse=True)
        return rf"(?:{'|'.join(map(re.escape, longest_first))})(?![\w.:@-])"

    @cached_property
    def _looks(self) -> tuple[tuple[str, str], ...]:
        """The shortest beginnings of the others, each with the one name where that is longer and begins so too."""
        root = self.root.lower()
        names = {name.lower() for name in self.others} - {root}
        shortest = (one for one in names if not any(one != other and one.startswith(other) for other in names))
        return tuple((one, root if root.startswith(one) else "") for one in shortest)

    @cached_property
    def _beginning(self) -> re.Pattern[str]:
        return re.compile(rf"\A{self._any}", re.IGNORECASE)

    @cached_property
    def _within(self) -> re.Pattern[str]:
        return re.compile(rf"(?<=[\"#]){self._any}", re.IGNORECASE)
