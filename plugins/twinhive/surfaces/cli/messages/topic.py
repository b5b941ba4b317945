"""Say on which topic a table's messages are (seed 003, docs/messages.md)."""

from typing import Annotated

import typer

from twinhive.core.model.errors import InvalidSettings
from twinhive.core.model.messages.topics import OWN_TOPIC, own_topic
from twinhive.core.model.names import TableName
from twinhive.surfaces.cli.json_output import print_json
from twinhive.surfaces.cli.messages.message_arguments import messages_of
from twinhive.surfaces.cli.terminal import AsJson, Config, errors_shown, say

app = typer.Typer(rich_markup_mode=None)


@app.command()
def topic(
    cluster: Annotated[str, typer.Argument(metavar="CLUSTER", help="A cluster of clusters.yaml")],
    place: Annotated[
        str,
        typer.Argument(metavar="TABLE", help="database.table, or a database: what its topics begin with"),
    ],
    as_json: AsJson = False,
    config: Config = None,
) -> None:
    """Print the topic of a table's messages. A table that does not exist yet has one as well."""
    with errors_shown(as_json=as_json):
        wiring = messages_of(config, cluster)
        if "." not in place:
            found = wiring.topics.of_database(place.lower())
        else:
            name = TableName.given(place)
            table = wiring.metastore().table(name)
            own = None if table is None else own_topic(table.parameters)
            if own is not None and not wiring.topics.allows(own):
                raise InvalidSettings(
                    f"property {OWN_TOPIC} of {name} is not obeyed",
                    found=own,
                    expected=f"letters, digits, '.', '_' and '-' that match {wiring.topics.table_topics}; the messages "
                    f"are on {wiring.topics.topic_of(name)}",
                    next_step=f"correct the property, or clusters.{wiring.cluster}.messages.table_topics",
                )
            found = wiring.topics.topic_of(name, own)
    if as_json:
        print_json({"cluster": wiring.cluster, "place": place, "topic": found})
    else:
        say(found)
