"""Where tables and partitions are: at home on their primary cluster, and whole on others that have a copy."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from twinhive.core.model.names import TableName


@dataclass(frozen=True)
class ClusterStorageDescriptor:
    """One place of an object, as seed 000 calls it: on which cluster, where, and whether that is the primary's."""

    cluster: str
    location: str
    is_primary: bool


@dataclass(frozen=True)
class ObjectResidence:
    """An unpartitioned table or a partition, with the places where it is whole now; the primary's first.

    `stale` says of clusters whose copy is not what the object is why nobody may read it.
    """

    what: str
    places: tuple[ClusterStorageDescriptor, ...]
    stale: Mapping[str, str] = field(default_factory=dict)

    def is_on(self, cluster: str) -> bool:
        """True where all its rows can be read on a cluster."""
        return any(place.cluster == cluster for place in self.places)


@dataclass(frozen=True)
class TableResidence:
    """A table, the cluster on which alone it may be changed, and those of its objects that a statement reads."""

    name: TableName
    primary: str
    objects: Sequence[ObjectResidence] = ()

    def missing_on(self, cluster: str) -> ObjectResidence | None:
        """Return the first object that is not whole on a cluster; None where nothing is missing."""
        if cluster == self.primary:
            return None
        return next((one for one in self.objects if not one.is_on(cluster)), None)
