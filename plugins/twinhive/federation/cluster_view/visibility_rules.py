"""The rules of what one cluster sees: where an object is for it, and which places it may name.

An object is where it belongs, or as a whole and fresh copy; the same as routing believes. Everything else is absent:
its place gets a scheme that no file system has, so that reading it fails at once, and says where it is.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from twinhive.core.model.file_system_names import OneFileSystem, by_one_name
from twinhive.core.model.files import authority, is_below, is_elsewhere, qualified
from twinhive.core.model.objects import Parameters
from twinhive.core.model.placement.copy_marks import ROOT
from twinhive.core.model.untrusted_paths import is_collapsed

ABSENT: Final = "absent-on-"
"""What the scheme of a place begins with that a cluster does not have."""
PLACE_KEYS: Final = ("path", "metadata_location", "previous_metadata_location")
"""Parameters that are places: Spark's of its own tables, Iceberg's of its metadata."""
_NO_SCHEME_CHARACTER: Final = re.compile(r"[^a-z0-9-]")
_SLASHES: Final = re.compile(r"/{2,}")


@dataclass(frozen=True)
class Sight:
    """A cluster, and what is known of the others over the same metastore.

    roots    the file systems of all of them, by name
    default  the cluster of tables that say nothing
    copies   the directories of all placements: only copies are in them
    remote   what is absent keeps the place that it has on its own cluster
    ports    where clients of each cluster connect, by name; those without a port are not in it
    names    the file systems that are called by several names, each by its root
    """

    cluster: str
    roots: Mapping[str, str]
    default: str
    copies: tuple[str, ...] = ()
    remote: bool = False
    ports: Mapping[str, str] = field(default_factory=dict)
    names: tuple[OneFileSystem, ...] = ()

    @property
    def root(self) -> str:
        """The cluster's own file system."""
        return self.roots[self.cluster]

    def full(self, place: str) -> str:
        """Return a place as a URI by its file system's one name; one without a host is the default cluster's."""
        return by_one_name(place if "://" in place else qualified(place, self.roots[self.default]), self.names)

    def is_here(self, place: str) -> bool:
        """True for a place on the cluster's own file system."""
        return "://" in (whole := self.full(place)) and not is_elsewhere(whole, self.root)

    def other(self, place: str) -> str | None:
        """Return the other cluster on whose file system a place is."""
        if not place or (whole := self.full(place)).startswith(ABSENT) or "://" not in whole or self.is_here(place):
            return None
        return next((name for name, root in self.roots.items() if not is_elsewhere(whole, root)), None)

    def absent(self, place: str, primary: str) -> str:
        """Return what is shown of a place that the cluster does not have."""
        if self.remote or place.startswith(ABSENT):
            return place
        whole = self.full(place)
        rest = whole.partition(":")[2] if ":" in whole.partition("/")[0] else f"//{whole}"
        return f"{ABSENT}{_word(self.cluster)}.run-on-{_word(primary)}-or-see-twinhive-copies:{rest}"

    def copied(self, place: str) -> bool:
        """True for a place in, or around, the directories of copies."""
        whole = self.full(place)
        path = _SLASHES.sub("/", whole.removeprefix(authority(whole))).rstrip("/")
        for copies in self.copies:
            kept = copies.removeprefix(authority(copies))
            is_near = path == kept or is_below(path, kept) or (path and is_below(kept, path))
            if is_near and not is_elsewhere(whole, authority(copies)):
                return True
        return False

    def unfit(self, place: str, at_home: Callable[[], bool]) -> str | None:
        """Say why nothing may be put into the metastore with this place, by anybody.

        `at_home` says of a place of copies that it is the object's own one: a primary was moved there.
        """
        if place.startswith(ABSENT):
            return f"{place} is no place: it stands for what is absent on a cluster"
        if self.copied(place) and not at_home():
            return f"{place} is, or lies in or around, a directory of copies, which placements alone write"
        return None

    def unfit_here(self, place: str, at_home: Callable[[], bool] = lambda: False) -> str | None:
        """Say why the cluster may not put anything into the metastore with this place."""
        if is_collapsed(place):
            return f"{place} has a component '.' or '..'"
        if (why := self.unfit(place, at_home)) is not None:
            return why
        return None if self.is_here(place) else f"{place} is not on {self.root}, the file system of {self.cluster}"

    def root_of_new_tables(self, parameters: Parameters) -> str | None:
        """Return where a database, by its parameters, puts tables on the cluster; None where that is not said."""
        root = parameters.get(f"{ROOT}{self.cluster}", "").rstrip("/")
        return None if not root or self.unfit_here(root) else root

    def way_to_a_root(self, database: str) -> str:
        """Say what a person does whose database has no place for tables on the cluster."""
        return (
            f"say where {database} puts tables on {self.cluster}: ALTER DATABASE {database} SET DBPROPERTIES "
            f"('{ROOT}{self.cluster}' = '{self.root}/...'), where the database belongs"
        )


@dataclass(frozen=True)
class Whereabouts:
    """Where an object is: its primary, its own place, and the place of a fresh whole copy on the cluster.

    `primary` is None for what cannot be known: a table of another catalog, one that is not there any more.
    """

    primary: str | None
    own: str
    copy: str | None = None

    def shown(self, place: str, sight: Sight) -> str:
        """Return what the cluster sees of one of the object's places."""
        if self.copy is not None:
            if place.rstrip("/") == self.own:
                return self.copy
            if is_below(place, self.own) and not is_collapsed(place):
                return self.copy + place.removeprefix(self.own.rstrip("/"))
        if self.primary is not None and sight.is_here(place):
            return place
        if self.primary == sight.cluster:
            other = sight.other(place)
            return place if other is None else sight.absent(place, other)
        return sight.absent(place, self.primary or sight.default)


def _word(name: str) -> str:
    """Return a name as the scheme of a URI can hold it."""
    return _NO_SCHEME_CHARACTER.sub("-", name.lower())
