"""Read what was typed: a cluster, a table or a database."""

from pathlib import Path

from twinhive.runtime.wiring.message_wiring import MessagesWiring
from twinhive.surfaces.cli.command_line import configuration_of, local_cluster
from twinhive.surfaces.cli.connection_sources import resolver


def messages_of(config: Path | None, cluster: str) -> MessagesWiring:
    """Return what is known of a cluster's messages. Raises InvalidSettings."""
    configuration = configuration_of(config)
    return MessagesWiring(configuration, local_cluster(configuration, cluster), resolver())
