"""Create functions on the replica, with their jars and files beside its tables."""

from dataclasses import dataclass

from twinhive.domain.errors import AlreadyThere
from twinhive.domain.files import base_name, join
from twinhive.domain.objects import Function
from twinhive.ports import FileReader, FileWriter, Lease, MetastoreWriter

_DIRECTORY = "_functions"


@dataclass(frozen=True)
class Functions:
    """The functions of a replica's database; their files lie below `root`."""

    replica: MetastoreWriter
    files: FileWriter
    source_files: FileReader
    lease: Lease
    database: str
    root: str

    def put(self, function: Function, event_id: int) -> bool:
        """Create a function as of an event, in the place of another one of its name; False when it is there."""
        resources = tuple(self._resource(function, uri, event_id) for uri in function.resources)
        wanted = function.at(self.database, resources)
        try:
            self.lease.confirm()
            self.replica.create_function(wanted)
        except AlreadyThere:
            there = {one.name: one for one in self.replica.functions(self.database)}.get(wanted.name)
            if there is not None and (there.class_name, there.resources) == (wanted.class_name, resources):
                return False
            self.drop(wanted.name)
            self.replica.create_function(wanted)
        return True

    def drop(self, name: str) -> None:
        """Drop a function; one that is not there is fine."""
        self.lease.confirm()
        self.replica.drop_function(self.database, name)

    def _resource(self, function: Function, uri: str, event_id: int) -> str:
        """Copy a function's file to the replica, unless it is not on the source's file system."""
        if not uri.startswith(self.source_files.root + "/"):
            return uri
        place = join(self.root, _DIRECTORY, f"{function.name}.{event_id}", base_name(uri))
        if self.files.status(place) is None:
            self.lease.confirm()
            self.files.write(place, self.source_files.read(uri))
        return place
