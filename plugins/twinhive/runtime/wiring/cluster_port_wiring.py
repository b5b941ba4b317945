"""Build the ports of a gateway, one for each cluster over its metastore that asks for one."""

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from twinhive.core.model.errors import InvalidSettings
from twinhive.core.model.file_system_names import by_one_name
from twinhive.core.model.files import join, qualified
from twinhive.federation.cluster_view.cluster_port import ClusterPort, DefaultPort, Port
from twinhive.federation.cluster_view.visibility_rules import Sight
from twinhive.federation.routing.freshness import FollowedLog
from twinhive.runtime.settings import Configuration, Resolve
from twinhive.runtime.settings.placements import PlacementSettings

if TYPE_CHECKING:
    from twinhive.runtime.wiring.routing_wiring import RoutingWiring


def gateway_ports(configuration: Configuration, cluster: str, resolve: Resolve, own: int) -> dict[int, Port | None]:
    """Return the ports at which a gateway over the metastore of a cluster listens. `own` is its own port.

    A metastore of one cluster has the gateway's own port alone, and everything passes there. Raises InvalidSettings.
    """
    names = configuration.clusters_of_metastore(cluster)
    settings = {name: configuration.clusters[name].gateway for name in names}
    if len(names) < 2 and settings[names[0]].port is None:
        return {own: None}
    from twinhive.runtime.wiring.routing_wiring import (
        RoutingWiring,  # brings the bindings along, which a gateway does without
    )

    wiring = RoutingWiring(configuration, cluster, resolve)
    followed = FollowedLog()
    seen = sight_of(configuration, wiring, wiring.clusters.default)
    default = replace(seen, ports=_addresses(configuration, names, wiring.clusters.default, own))
    ports: dict[int, Port | None] = {own: DefaultPort(wiring.metastore, default)}
    for name, said in settings.items():
        if said.port is None:
            continue
        if said.port == own:
            raise _taken(configuration, name, own)
        ports[said.port] = ClusterPort(
            wiring.metastore,
            replace(default, cluster=name, remote=said.absent == "remote"),
            lambda: wiring.freshness(followed=followed),
        )
    return ports


def _addresses(configuration: Configuration, names: Iterable[str], default: str, own: int) -> dict[str, str]:
    """Return where clients of each cluster connect, as far as that is known here."""
    found = {default: f"the gateway's own port {own}"}
    for name in names:
        said = configuration.clusters[name].gateway
        if said.port is not None:
            found[name] = ",".join(said.uris) or f"port {said.port} of the gateway"
    return found


def sight_of(configuration: Configuration, wiring: "RoutingWiring", cluster: str) -> Sight:
    """Return what one cluster sees: its own file system, and which places are those of copies."""
    copies = _directories_of_copies(configuration, wiring)
    return Sight(cluster, wiring.roots, wiring.clusters.default, copies, names=wiring.names)


def _directories_of_copies(configuration: Configuration, wiring: "RoutingWiring") -> tuple[str, ...]:
    """Return where copies are: of all placements, and where those have them that say nothing."""
    usual = PlacementSettings.model_fields["root"].default
    found = {join(root, usual.strip("/")) for root in wiring.roots.values()}
    for name, entry in configuration.placements.items():
        if entry.settings is not None and entry.settings.cluster in wiring.roots:
            root = qualified(entry.settings.root, wiring.roots[entry.settings.cluster])
            found.add(join(by_one_name(root, wiring.names), name))
    return tuple(sorted(found))


def _taken(configuration: Configuration, cluster: str, port: int) -> InvalidSettings:
    return InvalidSettings(
        f"the port of cluster {cluster} is the gateway's own one",
        found=f"clusters.{cluster}.gateway.port: {port}, and --port {port}",
        expected="another one: at the gateway's own port nothing is changed",
        next_step=f"name another port in {configuration.directory / 'clusters.yaml'}, or with --port",
    )
