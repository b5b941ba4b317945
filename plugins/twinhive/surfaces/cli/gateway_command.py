"""Run a metastore gateway, and say what engines need to use one (seed 004)."""

import asyncio
import gc
import os
import socket
import sys
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import ExitStack
from enum import StrEnum
from typing import Annotated, Any

import typer

from twinhive.core.model.errors import ActNow
from twinhive.federation.cluster_view.cluster_port import Port
from twinhive.federation.gateway.breaker_probes import ask_again
from twinhive.federation.gateway.gateway_metrics import CallCounts
from twinhive.federation.gateway.gateway_workers import Serve, Supervisor, run_alone, run_worker
from twinhive.federation.gateway.isolation import RemoteLimits
from twinhive.federation.gateway.json_log import log_to
from twinhive.federation.gateway.server import Server, listen
from twinhive.federation.gateway.session import Session
from twinhive.runtime.settings import Configuration
from twinhive.runtime.wiring.cluster_port_wiring import gateway_ports
from twinhive.runtime.wiring.gateway_wiring import RemotesWiring
from twinhive.runtime.wiring.resolved_endpoints import file_system_endpoint
from twinhive.runtime.wiring.spark_settings import spark_settings
from twinhive.surfaces.cli.command_line import configuration_of, local_cluster
from twinhive.surfaces.cli.connection_sources import resolver
from twinhive.surfaces.cli.json_output import print_json
from twinhive.surfaces.cli.terminal import AsJson, Config, errors_shown

app = typer.Typer(rich_markup_mode=None)
_COLLECTED = (20_000, 10, 50)
"""Objects made before the garbage collector looks at the youngest; fewer are made for any answer but a long list."""
PORT = 9093


class GatewayAction(StrEnum):
    """What `twinhive gateway` does."""

    SERVE = "serve"
    CONF = "conf"


@app.command()
def gateway(
    action: Annotated[
        GatewayAction,
        typer.Argument(help="serve: run until it is stopped; conf: print what Spark has to be told"),
    ] = GatewayAction.SERVE,
    cluster: Annotated[
        str | None, typer.Option(help="The cluster of the local metastore; not needed where there is one only")
    ] = None,
    host: Annotated[str, typer.Option(help="The address to listen on")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65_535, help="The port to listen on")] = PORT,
    workers: Annotated[int, typer.Option(min=1, max=64, help="Processes that share the port")] = 1,
    status_port: Annotated[
        int | None,
        typer.Option(min=1, max=65_535, help="Answer GET /metrics (Prometheus) and /remotes (JSON) on this port"),
    ] = None,
    worker: Annotated[bool, typer.Option("--worker", hidden=True)] = False,
    as_json: AsJson = False,
    config: Config = None,
) -> None:
    """Serve the metastore's API: databases and tables of other metastores under local names.

    Clients name it in hive.metastore.uris instead of the local metastore, or several gateways separated by commas. It
    keeps nothing itself. Remotes are made with CREATE REMOTE TABLE or DATABASE; what they may reach is in remotes.yaml
    beside clusters.yaml (docs/remotes.md). Clusters that share the metastore may have a port each, where it is as they
    see it (docs/clusters.md). Its log is one JSON object a line on standard error.
    """
    with errors_shown(as_json=as_json):
        configuration = configuration_of(config)
        if action is GatewayAction.CONF:
            ends = [file_system_endpoint(one.file_system, resolver()) for one in configuration.clusters.values()]
            at = port if cluster is None else _port_of(configuration, cluster) or port
            _print_settings(spark_settings(ends, f"thrift://{host}:{at}"), as_json=as_json)
            return
        chosen = local_cluster(configuration, cluster)
        wiring = RemotesWiring(configuration, chosen, resolver())
        ports = gateway_ports(configuration, chosen, resolver(), port)
        _serve(wiring, host, ports, workers, status_port, is_worker=worker)


def _port_of(configuration: Configuration, cluster: str) -> int | None:
    """Return the cluster's own port, None where it has none."""
    settings = configuration.clusters.get(cluster)
    return None if settings is None else settings.gateway.port


def _print_settings(settings: dict[str, str], *, as_json: bool) -> None:
    if as_json:
        print_json({"settings": settings})
        return
    for key, value in settings.items():
        typer.echo(f"{key}={value}")


def _serve(
    wiring: RemotesWiring,
    host: str,
    ports: Mapping[int, Port | None],
    workers: int,
    status_port: int | None,
    *,
    is_worker: bool,
) -> None:
    log_to(sys.stderr)
    status = None if status_port is None else (host, status_port)
    if is_worker:
        shared = [listen(host, port, shared=True) for port in ports]
        _run(run_worker(_serving(wiring, ports, shared)))
        return
    with ExitStack() as stack:
        listeners = [stack.enter_context(listening(host, port)) for port in ports]
        if workers == 1:
            _run(run_alone(_serving(wiring, ports, listeners), status))
            return
    # That a port is taken was told once, and not by each worker.
    wiring.reader.log_id()
    command = [sys.executable, "-m", "twinhive.surfaces.cli.app", *sys.argv[1:], "--worker"]
    asyncio.run(Supervisor(command, workers).run(status))


def _serving(wiring: RemotesWiring, ports: Mapping[int, Port | None], listeners: Sequence[socket.socket]) -> Serve:
    async def serve(counts: CallCounts, stop: asyncio.Event) -> None:
        common = wiring.shared(counts, RemoteLimits())
        connections: dict[int, int] = {}

        def server(number: int) -> Server:
            def on_count(count: int) -> None:
                connections[number] = count
                counts.connections = sum(connections.values())

            return Server(lambda link: Session(common, link, ports[number]), on_count)

        asking = asyncio.create_task(ask_again(common))
        await asyncio.gather(
            *(server(port).run(listener, stop) for port, listener in zip(ports, listeners, strict=True))
        )
        asking.cancel()
        await wiring.connectors.close()

    return serve


def _run(main: Coroutine[Any, Any, None]) -> None:
    """Run on uvloop, which needs a third less time for a call.

    What is loaded stays for good, so the garbage collector does not look at it each time a long list has been decoded.
    """
    import uvloop

    gc.freeze()
    gc.set_threshold(*_COLLECTED)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main)


def listening(host: str, port: int) -> socket.socket:
    """Listen there. Raises ActNow for a port that is taken."""
    try:
        return listen(host, port)
    except OSError as error:
        raise ActNow(
            f"the gateway cannot listen on {host}:{port}",
            found=os.strerror(error.errno) if error.errno else str(error),
            expected="a free port, and an address of this machine",
            next_step="name another one with --port or --host, or end what listens there",
        ) from error
