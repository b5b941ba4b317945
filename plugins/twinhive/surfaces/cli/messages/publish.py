"""Publish what a metastore's log tells (seed 003, docs/messages.md)."""

import os
import socket
import sys
from contextlib import ExitStack
from itertools import islice
from typing import Annotated

import typer

from twinhive.core.model.errors import ActNow
from twinhive.federation.gateway.json_log import log_to
from twinhive.publishing.messages.publisher_status import PublisherWatch
from twinhive.publishing.messages.publishing_messages import Publisher, PublisherRules, run_publisher
from twinhive.runtime.wiring.message_wiring import MessagesWiring
from twinhive.surfaces.cli.json_output import print_json
from twinhive.surfaces.cli.messages.loop_signals import StopBySignal
from twinhive.surfaces.cli.messages.message_arguments import messages_of
from twinhive.surfaces.cli.terminal import AsJson, Config, DryRun, errors_shown, say, without_airflow

app = typer.Typer(rich_markup_mode=None)
_MOST_SHOWN = 1_000


@app.command()
def publish(
    cluster: Annotated[str, typer.Argument(metavar="CLUSTER", help="A cluster of clusters.yaml")],
    name: Annotated[
        str | None, typer.Option(help="This publisher's name, another for each of a pair; default: the host's")
    ] = None,
    poll: Annotated[float, typer.Option(min=0.05, max=60.0, help="Look at the log so often, in seconds")] = 1.0,
    patience: Annotated[
        float,
        typer.Option(min=6.0, max=600.0, help="Take over from one that is silent for so many seconds"),
    ] = 15.0,
    status_port: Annotated[
        int | None,
        typer.Option(min=1, max=65_535, help="Answer GET /metrics (Prometheus) and /status (JSON) on this port"),
    ] = None,
    status_host: Annotated[str, typer.Option(help="The address for --status-port")] = "127.0.0.1",
    once: Annotated[bool, typer.Option("--once", help="Send what there is, and end")] = False,
    dry_run: DryRun = False,
    as_json: AsJson = False,
    config: Config = None,
) -> None:
    """Tell a message broker which partitions were added and which sets are done, until it is stopped.

    Each message is sent at least once, in the order of the metastore's log, with an id that stays the same. Run two
    with different names: one sends, the other takes over. Its log is one JSON object a line on standard error.
    """
    with errors_shown(as_json=as_json), without_airflow():
        wiring = messages_of(config, cluster)
        rules = PublisherRules(wiring.topics, wiring.databases, name or socket.gethostname(), patience)
        publisher = Publisher(wiring.metastore(), wiring.broker(), rules)
        if dry_run:
            _show_waiting(publisher, as_json=as_json)
            return
        if once:
            standing = publisher.round()
            publisher.leave()
            sent = sum(publisher.counts.sent.values())
            _tell(as_json, cluster, standing.value, sent)
            return
        _run(publisher, PublisherWatch(publisher, cluster, rules.holder), poll, (status_host, status_port), wiring)


def _show_waiting(publisher: Publisher, *, as_json: bool) -> None:
    shown = list(islice(publisher.waiting_messages(), _MOST_SHOWN))
    if as_json:
        print_json({"dry_run": True, "messages": [{"topic": one.topic, "body": one.body} for one in shown]})
        return
    say(*(f"{one.topic} {one.body}" for one in shown))
    more = f", these are the first {_MOST_SHOWN:,}" if len(shown) == _MOST_SHOWN else ""
    say(f"dry run: {len(shown):,} messages would be sent{more}; nothing was")


def _tell(as_json: bool, cluster: str, standing: str, sent: int) -> None:
    if as_json:
        print_json({"cluster": cluster, "standing": standing, "sent": sent})
    else:
        say(f"{standing}: {sent:,} messages sent")


def _run(
    publisher: Publisher, watch: PublisherWatch, poll: float, status: tuple[str, int | None], wiring: MessagesWiring
) -> None:
    log_to(sys.stderr, "twinhive")
    stop = StopBySignal()
    stop.listen()
    host, port = status
    with ExitStack() as at_end:
        if port is not None:
            # A web server's megabyte, for those who ask for one.
            from twinhive.publishing.messages.status_http import serve_status

            try:
                server = serve_status(host, port, watch)
            except OSError as error:
                raise ActNow(
                    f"the publisher cannot answer on {host}:{port}",
                    found=os.strerror(error.errno) if error.errno else str(error),
                    expected="a free port, and an address of this machine",
                    next_step="name another one with --status-port or --status-host, or end what listens there",
                ) from error
            at_end.callback(server.shutdown)
        run_publisher(publisher, stop, poll, watch.note)
