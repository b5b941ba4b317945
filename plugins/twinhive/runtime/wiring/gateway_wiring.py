"""Build a gateway from settings: its local metastore, the remotes that are defined there, and what these may reach."""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from twinhive.core.model.endpoints import FileSystemEndpoint, MetastoreEndpoint
from twinhive.core.model.errors import InvalidSettings, TwinhiveError
from twinhive.core.model.files import authority
from twinhive.core.model.remotes.definitions import (
    REMOTE,
    REMOTES_FILE,
    THRIFT,
    Definition,
    Definitions,
    refuse_unreadable,
)
from twinhive.core.ports.file_systems import FileReader
from twinhive.core.threads.lazy_property import lazy_property
from twinhive.federation.connector_api.byte_links import ByteLink
from twinhive.federation.connectors.registry import ConnectorContext, Connectors, connector_name
from twinhive.federation.connectors.thrift import MetastoreAddress, ThriftConnector
from twinhive.federation.gateway.gateway_metrics import CallCounts
from twinhive.federation.gateway.gateway_state import Shared
from twinhive.federation.gateway.isolation import RemoteLimits
from twinhive.federation.gateway.remote_definitions.blocking_metastore import BlockingMetastore
from twinhive.federation.gateway.remote_definitions.definition_cache import DefinitionCache
from twinhive.federation.gateway.remote_definitions.definition_reader import WireDefinitionReader
from twinhive.federation.gateway.remote_pool import ReachedRemote, RemotePool
from twinhive.federation.remotes.access import CALLER, Access, Allowed
from twinhive.federation.remotes.kept_remotes import definitions_of, shown
from twinhive.federation.remotes.local_definitions import LocalDefinitions
from twinhive.runtime.settings import Configuration, Resolve
from twinhive.runtime.settings.remotes import RemotesFile, load_remotes
from twinhive.runtime.wiring.file_wiring import files
from twinhive.runtime.wiring.resolved_endpoints import file_system_endpoint, metastore_endpoint

if TYPE_CHECKING:
    from twinhive.hive.adapters.hive.hive_metastore import ThriftMetastore
    from twinhive.hive.adapters.hive.hive_remotes import ThriftRemoteWriter

_LOOK_SECONDS = 1.0
"""How old what is known of the file may be."""


class RemotesWiring:
    """The remotes of one local metastore: where they are defined, and what they may reach."""

    def __init__(self, configuration: Configuration, cluster: str, resolve: Resolve) -> None:
        self._configuration, self._resolve = configuration, resolve
        self._cluster = cluster
        self._looked_at = float("-inf")
        self._access = Access()
        self.connectors = Connectors(ConnectorContext(lambda name: self.access.key_file(name), self.files_at))

    @lazy_property
    def endpoint(self) -> MetastoreEndpoint:
        """The local metastore."""
        return metastore_endpoint(self._configuration.clusters[self._cluster].metastore, self._resolve, self._cluster)

    def definitions(self) -> Definitions:
        """Read what is defined now. Raises Unreachable."""
        reader = self.reader
        databases = reader.all_databases()
        connectors = reader.connectors() if any(one.connector for one in databases) else {}
        return definitions_of(databases, reader.views_with(REMOTE), connectors)

    @lazy_property
    def reader(self) -> WireDefinitionReader:
        """Reads what the local metastore defines; for one thread at a time."""
        return WireDefinitionReader(BlockingMetastore(self.endpoint))

    @lazy_property
    def metastore(self) -> "ThriftMetastore":
        """The local metastore, for who does more there than read definitions."""
        from twinhive.hive.adapters.hive.hive_metastore import ThriftMetastore

        at = self.endpoint
        return ThriftMetastore(at.addresses, at.timeout_seconds, at.user, at.cluster)

    @property
    def writer(self) -> "ThriftRemoteWriter":
        """Keeps remotes and connectors in the local metastore."""
        from twinhive.hive.adapters.hive.hive_remotes import ThriftRemoteWriter

        return ThriftRemoteWriter(self.metastore)

    @property
    def access(self) -> Access:
        """What may be reached, as the file says now. Raises InvalidSettings for a file that cannot be used."""
        now = time.monotonic()
        if now - self._looked_at >= _LOOK_SECONDS:
            self._access = self._read_access()
            self._looked_at = now
        return self._access

    def reached(self, definition: Definition) -> ReachedRemote:
        """Say where a definition leads. Raises Refused, InvalidSettings."""
        refuse_unreadable(definition)
        name = connector_name(definition.via)
        connector = self.connectors.of(definition.via)
        place = self.connectors.place(definition.via, definition.properties)
        rule = self.access.rule_for(definition.local, name, place.addresses)

        async def open_() -> ByteLink:
            return await connector.open(definition.properties)

        return ReachedRemote((name, place.key, rule.user), place.name, rule.user, open_)

    def shared(self, counts: CallCounts, limits: RemoteLimits) -> Shared:
        """Return what all clients of one process share. Raises Unreachable."""
        addresses = [MetastoreAddress(host, port) for host, port in self.endpoint.addresses]
        connector = ThriftConnector()
        reader = self.reader
        local = LocalDefinitions(reader, time.monotonic)

        async def open_() -> ByteLink:
            return await connector.open_to(addresses)

        return Shared(
            gateway_id=reader.log_id(),
            local=open_,
            definitions=DefinitionCache(
                self._noted(local.read, counts), time.monotonic, read_share=lambda: local.read_share
            ),
            remotes=RemotePool(self.reached, limits, counts, time.monotonic, time.time),
            counts=counts,
            clock=time.monotonic,
            describe=shown,
        )

    def _noted(self, read: Callable[[], Definitions], counts: CallCounts) -> Callable[[], Definitions]:
        """Read, and write down what there is for who watches the gateway."""

        def read_and_note() -> Definitions:
            found = read()
            every: list[Definition] = [*found.databases.values(), *found.tables.values()]
            counts.names = {str(one.local): (str(one.remote), *self._place_of(one)) for one in every}
            return found

        return read_and_note

    def _place_of(self, definition: Definition) -> tuple[str, str]:
        """Return the remote's address, or why it is refused, in words. One definition takes no other out of sight."""
        try:
            return self.reached(definition).name, ""
        except TwinhiveError as error:
            return "", error.words.what
        except Exception as error:
            return "", f"it cannot be looked at: {type(error).__name__}: {error}"

    def files_at(self, path: str) -> FileReader:
        """Return the file system that a path is on. Raises InvalidSettings for one of no cluster."""
        return files(file_system_of(path, self._file_systems()))

    def _read_access(self) -> Access:
        file = load_remotes(self._configuration.directory / REMOTES_FILE)
        rules = [_rule_of(one.connector, one.addresses, one.identity) for one in file.allow]
        directory = None if file.key_directory is None else self._configuration.directory / file.key_directory
        clusters, unknown = self._cluster_rules(file)
        return Access((*rules, *clusters), directory, unknown)  # what somebody has said comes first

    def _cluster_rules(self, file: RemotesFile) -> tuple[list[Allowed], tuple[str, ...]]:
        """Return what holds without a word, and why a cluster's addresses are not known: that keeps no other away."""
        if not file.clusters:
            return [], ()
        rules: list[Allowed] = []
        unknown: list[str] = []
        for name, one in self._configuration.clusters.items():
            try:
                end = metastore_endpoint(one.metastore, self._resolve)
            except TwinhiveError as error:
                unknown.append(f"cluster {name}: {error.words.what}")
            else:
                rules.append(Allowed(THRIFT, tuple(str(MetastoreAddress(*address)) for address in end.addresses)))
        return rules, tuple(unknown)

    def _file_systems(self) -> list[FileSystemEndpoint]:
        """Return those of all clusters whose connections can be used."""
        found: list[FileSystemEndpoint] = []
        for one in self._configuration.clusters.values():
            with suppress(TwinhiveError):
                found.append(file_system_endpoint(one.file_system, self._resolve))
        return found


def _rule_of(connector: str, addresses: tuple[str, ...], identity: str) -> Allowed:
    return Allowed(connector, addresses, None if identity == CALLER else identity)


def file_system_of(path: str, ends: Sequence[FileSystemEndpoint]) -> FileSystemEndpoint:
    """Return the one of these file systems that a path is on. Raises InvalidSettings."""
    found = next((end for end in ends if authority(path) == end.root), None)
    if found is None:
        raise InvalidSettings(
            f"{path} is on no file system that is known here",
            found=authority(path),
            expected=f"one of clusters.yaml: {', '.join(sorted(end.root for end in ends))}",
            next_step="add a cluster with this file system to clusters.yaml, or name a file of one that is there",
        )
    return found
