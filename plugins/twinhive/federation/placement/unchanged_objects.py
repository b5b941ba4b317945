"""Tell which objects are still what was listed: object, directory and every file of it are read again."""

from collections.abc import Mapping
from dataclasses import dataclass

from twinhive.core.model.files import qualified
from twinhive.core.model.objects import Table
from twinhive.core.model.placement.copy_marks import primary_of
from twinhive.core.model.placement.touches import Values
from twinhive.core.model.policy import Policy
from twinhive.core.ports import ReadPorts
from twinhive.federation.placement.copied_objects import CopyObject, Marked
from twinhive.federation.placement.copy_lists import ListedCopies, content_of, contents_of
from twinhive.federation.placement.placement_events import CopyNews
from twinhive.federation.placement.placement_layout import kept
from twinhive.federation.routing.nested_directories import directory_states


@dataclass(frozen=True)
class Unchanged:
    """What is known of objects of one table: `news` since they were listed, and the objects as they are `now`."""

    ports: ReadPorts
    policy: Policy
    news: CopyNews
    now: Mapping[Values, Marked]

    def of(self, objects: ListedCopies) -> list[CopyObject]:
        """Return those of the objects that nothing has changed."""
        same = [one for one in objects if self._is_same_object(one)]
        places = [one.location for one in same]
        states = directory_states(self.ports.source_files, places, deep=places)
        same = [one for one in same if states.get(one.location) == one.directory]
        contents = contents_of(self.ports.source_files, same)
        # A file that grows shows in no time of a directory.
        return [one for one in same if contents[one] == content_of(objects[one])]

    def _is_same_object(self, one: CopyObject) -> bool:
        there = self.now.get(one.values)
        if there is None:
            return False
        if qualified(there.location or "", self.ports.source_files.root) != one.location:
            return False
        if isinstance(there, Table) and primary_of(there.parameters, kept(self.policy).default_cluster) != (
            self.policy.source.cluster
        ):
            return False
        return self.news.is_same(one.table.table, one.values, self.news.begin)
