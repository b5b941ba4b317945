"""Read what was typed: a cluster, a table or a database."""

from pathlib import Path

from twinhive.cli.base import configuration_of, local_cluster
from twinhive.cli.connection_sources import resolver
from twinhive.model.errors import InvalidSettings
from twinhive.model.names import TableName
from twinhive.wiring.messages import MessagesWiring


def messages_of(config: Path | None, cluster: str) -> MessagesWiring:
    """Return what is known of a cluster's messages. Raises InvalidSettings."""
    configuration = configuration_of(config)
    return MessagesWiring(configuration, local_cluster(configuration, cluster), resolver())


def table_of(text: str) -> TableName:
    """Read `database.table`. Raises InvalidSettings."""
    try:
        return TableName.parse(text)
    except ValueError as error:
        raise InvalidSettings(
            f"{text!r} is no table of which there could be messages",
            found=text,
            expected="database.table",
            next_step="name the table with its database",
        ) from error
