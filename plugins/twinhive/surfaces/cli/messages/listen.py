"""Print messages as they come in (seed 003, docs/messages.md)."""

import json
import time
from contextlib import closing
from typing import Annotated

import typer

from twinhive.core.model.errors import TryAgain
from twinhive.core.model.messages.hive_message import AnnouncementKind
from twinhive.core.model.messages.topics import own_topic
from twinhive.core.model.names import TableName
from twinhive.publishing.messages.listening import LISTENING, listen_on
from twinhive.surfaces.cli.messages.message_arguments import messages_of
from twinhive.surfaces.cli.terminal import AsJson, Config, errors_shown

app = typer.Typer(rich_markup_mode=None)


@app.command()
def listen(
    cluster: Annotated[str, typer.Argument(metavar="CLUSTER", help="A cluster of clusters.yaml")],
    place: Annotated[str, typer.Argument(metavar="TABLE", help="database.table, or a database: all its tables")],
    kind: Annotated[
        AnnouncementKind | None,
        typer.Option(metavar="KIND", help="ADD_PARTITION, SET_DONE, SET_OPEN or GAP; all if not given"),
    ] = None,
    count: Annotated[int | None, typer.Option(min=1, help="End after so many messages")] = None,
    timeout: Annotated[
        float | None, typer.Option(min=0.1, help="Say 'try again' when nothing comes for so many seconds")
    ] = None,
    as_json: AsJson = False,
    config: Config = None,
) -> None:
    """Print the messages of a table or a database, one JSON object a line, until it is interrupted.

    The first line says that it listens; so does one after each time when the broker was lost: what was sent in between
    was not heard. With --json an error is JSON too.
    """
    with errors_shown(as_json=as_json):
        wiring = messages_of(config, cluster)
        if "." in place:
            name = TableName.given(place)
            table = wiring.metastore().table(name)
            topic = wiring.topics.topic_of(name, own_topic(table.parameters) if table else None)
        else:
            topic = wiring.topics.of_database(place.lower())
        broker = wiring.broker(reads=True)
        left, heard = count, time.monotonic()
        with closing(broker), closing(listen_on(broker, [topic], [kind] if kind else ())) as heard_messages:
            for message in heard_messages:
                if message is None:
                    if timeout is not None and time.monotonic() - heard >= timeout:
                        raise TryAgain(
                            f"nothing was sent on {topic}",
                            found=f"no message for {timeout:g} s",
                            expected="a message",
                            next_step="listen on, or see whether the publisher runs",
                        )
                    continue
                heard = time.monotonic()
                print(json.dumps(message), flush=True)
                if LISTENING not in message and left is not None:
                    left -= 1
                    if left == 0:
                        return
