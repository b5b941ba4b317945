"""Build what moves a table's primary: a placement of that table alone, which no file holds."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from twinhive.core.model.endpoints import FileSystemEndpoint
from twinhive.core.model.errors import ActNow, InvalidSettings
from twinhive.core.model.files import join, qualified, short_hash
from twinhive.core.model.names import TableName
from twinhive.core.model.next_steps import command
from twinhive.core.model.placement.copy_marks import ROOT, primary_of
from twinhive.core.model.policy import Policy
from twinhive.core.ports import WritePorts
from twinhive.core.threads.lazy_property import lazy_property
from twinhive.federation.routing.marks_table import MarksTable
from twinhive.runtime.settings import Configuration, PlacementSettings, Resolve
from twinhive.runtime.settings.policies import TablesSettings
from twinhive.runtime.wiring.cluster_wiring import ClustersWiring
from twinhive.runtime.wiring.policy_wiring import Wiring

_READABLE = 40
_NAME = re.compile(r"(\w+)\.(\w+)")


@dataclass(frozen=True)
class MoveWiring:
    """The move of a table to a cluster; `given_root` is where its directory goes, None: as its database says."""

    configuration: Configuration
    resolve: Resolve
    name: TableName
    target: str
    given_root: str | None = None

    @classmethod
    def of(
        cls, configuration: Configuration, resolve: Resolve, table: str, target: str, root: str | None
    ) -> "MoveWiring":
        """Return the move. Raises InvalidSettings for names that nothing has."""
        found = _NAME.fullmatch(table)
        if found is None:
            raise InvalidSettings(
                f"{table!r} is no name of a table",
                found=table,
                expected="DATABASE.TABLE, letters, digits and _",
                next_step="correct the name",
            )
        together = configuration.clusters_of_metastore(target) if target in configuration.clusters else []
        if len(together) < 2:
            sharing = [one for one in configuration.clusters if len(configuration.clusters_of_metastore(one)) > 1]
            raise InvalidSettings(
                f"no table can be moved to cluster {target}",
                found="no such cluster" if not together else f"{target} shares its metastore with no other cluster",
                expected=f"one that shares its metastore with others: {', '.join(sorted(sharing)) or 'there is none'}",
                next_step="correct the name, or add the cluster to clusters.yaml: " + command("twinhive", "clusters"),
            )
        if root is not None and not re.fullmatch(r"([a-z][a-z0-9+.-]*://[^/]+)?/.*[^/]", root):
            raise InvalidSettings(
                "--root is no directory",
                found=root,
                expected="an absolute path or URI, no slash at the end",
                next_step="correct --root",
            )
        return cls(configuration, resolve, TableName(found[1].lower(), found[2].lower()), target, root)

    @property
    def policy(self) -> Policy:
        """What makes the copies that the table will be at home in. Raises ActNow, InvalidSettings."""
        policy = self._wiring.policy
        assert policy.copies is not None
        adopts = tuple(self._copies_there(policy))
        return replace(policy, copies=replace(policy.copies, takes_over=True, adopts=adopts))

    def _copies_there(self, policy: Policy) -> Iterator[str]:
        """Yield the directories of the placements that may have copies of the table there already."""
        there = self._wiring.replica_endpoint
        for name, entry in sorted(self.configuration.placements.items()):
            said = entry.settings
            if said is not None and (said.cluster, said.database.lower()) == (self.target, self.name.database):
                yield join(there.by_one_name.named(qualified(said.root, there.root)), name)

    @property
    def ends(self) -> tuple[FileSystemEndpoint, FileSystemEndpoint, FileSystemEndpoint]:
        """The file systems that the table leaves and comes to, and that of the lists of what is copied."""
        return self._wiring.source_endpoint, self._wiring.replica_endpoint, self._wiring.dump_endpoint

    def write_ports(self) -> WritePorts:
        """Return what the move uses."""
        return self._wiring.write_ports()

    @lazy_property
    def _wiring(self) -> Wiring:
        database, table = self.name.database, self.name.table
        source = self._source()
        self._refuse_what_is_replicated(source)
        settings = PlacementSettings(
            placement=f"move-{table[:_READABLE]}-{short_hash(str(self.name), 8)}",
            database=database,
            tables=TablesSettings(include=(re.escape(table),)),
            cluster=self.target,
            primary=source,
            root=self._root(),
        )
        return Wiring(self.configuration, settings.as_policy(source), self.resolve, settings)

    def _refuse_what_is_replicated(self, source: str) -> None:
        """Raise ActNow for a table that a policy brings to a replica: it reads the file system of its own source."""
        for name, entry in sorted(self.configuration.policies.items()):
            said = entry.settings
            if said is None or (said.source.cluster, said.source.database.lower()) != (source, self.name.database):
                continue
            if said.tables.selects(self.name.table):
                raise ActNow(
                    f"{self.name} cannot be moved: policy {name} replicates it from {source}",
                    found=entry.path,
                    expected=f"no policy that reads it on {source}: its replica would stop at the move",
                    next_step="let tables.exclude of the policy name the table, then run the same command again",
                )

    def _source(self) -> str:
        """Return the cluster that the table comes from; any other, where it is at home already, or is not there."""
        default = self.configuration.default_cluster_of(self.target)
        others = [one for one in self.configuration.clusters_of_metastore(self.target) if one != self.target]
        metastore = ClustersWiring(self.configuration, self.resolve).metastore(self.target)
        table = metastore.table(self.name)
        if table is None:
            return others[0]
        move = MarksTable(metastore, self.name.database).move(table)
        home = move.source if move else primary_of(table.parameters, default)
        if home != self.target and home not in others:
            raise ActNow(
                f"{self.name} cannot be moved: it belongs to cluster {home}",
                found=home,
                expected=f"one of the clusters of its metastore: {', '.join(sorted([*others, self.target]))}",
                next_step="see what does not fit: " + command("twinhive", "clusters", "check"),
            )
        return others[0] if home == self.target else home

    def _root(self) -> str:
        if self.given_root is not None:
            return self.given_root
        metastore = ClustersWiring(self.configuration, self.resolve).metastore(self.target)
        database = metastore.database(self.name.database)
        said = database.parameters.get(f"{ROOT}{self.target}") if database else None
        if said is None:
            raise ActNow(
                f"where {self.name} is to be on {self.target} is not said",
                found=f"database {self.name.database} has no {ROOT}{self.target}",
                expected="a directory on the file system of that cluster, apart from all warehouses",
                next_step="name it with --root, or set that parameter of the database",
            )
        return said.rstrip("/")
