"""A gateway in a thread, over metastores on loopback, with remotes that are said by the test."""

import asyncio
import socket
import threading
import time
from dataclasses import dataclass, field

from twinhive.core.model.remotes.definitions import Definition, Definitions
from twinhive.federation.cluster_view.cluster_port import Port
from twinhive.federation.connector_api.byte_links import ByteLink, connected
from twinhive.federation.gateway.breaker_probes import ask_again
from twinhive.federation.gateway.gateway_metrics import CallCounts
from twinhive.federation.gateway.gateway_state import Shared
from twinhive.federation.gateway.isolation import RemoteLimits
from twinhive.federation.gateway.metastore_links import LinkLimits, OpenLink
from twinhive.federation.gateway.remote_definitions.definition_cache import DefinitionCache
from twinhive.federation.gateway.remote_pool import ReachedRemote, RemotePool
from twinhive.federation.gateway.server import Server, listen
from twinhive.federation.gateway.session import Session


def opening(port: int) -> OpenLink:
    """Return how a loopback port is connected to."""

    async def open_() -> ByteLink:
        return await connected("127.0.0.1", port)

    return open_


@dataclass
class RunningGateway:
    """Serve until closed; `definitions` may be changed at any time.

    A definition's property `port` says where its metastore is, `user` whom calls are made as.
    """

    local_port: int
    definitions: Definitions = field(default_factory=Definitions)
    limits: RemoteLimits = field(default_factory=lambda: RemoteLimits(connect=0.5, call=0.5, wait=0.2, probe_every=0.3))
    local_seconds: float = 30.0
    """What the local metastore has for an answer."""
    gateway_id: str = "this"
    definitions_age: float = 60.0
    """What was read is not read again for half of that, unless `definitions` is set; 0 has no read go the quick way."""
    asks_again: bool = False
    """Asks remotes whose breaker is open, without a client's call."""
    seen: Port | None = None
    """What its port shows."""
    port: int = 0

    def __post_init__(self) -> None:
        self.counts = CallCounts()
        self._cache = DefinitionCache(lambda: self.definitions, time.monotonic, self.definitions_age, lambda: 0.0)
        self.remotes = RemotePool(_reached, self.limits, self.counts, time.monotonic, time.time)
        self._loop = asyncio.new_event_loop()
        self._stop = asyncio.Event()
        listener = listen("127.0.0.1", 0)
        self.port = listener.getsockname()[1]
        self._thread = threading.Thread(target=self._run, args=(listener,), daemon=True)
        self._thread.start()

    def __setattr__(self, name: str, value: object) -> None:
        """Have the definitions read again when there are others."""
        super().__setattr__(name, value)
        if name == "definitions" and "_cache" in vars(self):
            self._loop.call_soon_threadsafe(self._cache.forget)

    def _run(self, listener: socket.socket) -> None:
        self._loop.run_until_complete(self._serve(listener))

    async def _serve(self, listener: socket.socket) -> None:
        shared = Shared(
            gateway_id=self.gateway_id,
            local=opening(self.local_port),
            definitions=self._cache,
            remotes=self.remotes,
            counts=self.counts,
            clock=time.monotonic,
            request_seconds=0.5,
            local_limits=LinkLimits(0.5, self.local_seconds, self.limits.buffered),
            describe=lambda definition: {"twinhive_remote": str(definition.remote)},
        )
        asking = asyncio.create_task(ask_again(shared)) if self.asks_again else None
        await Server(lambda link: Session(shared, link, self.seen)).run(listener, self._stop)
        if asking is not None:
            asking.cancel()

    def stop(self) -> None:
        """Stop as SIGTERM does, and wait."""
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(20)
        assert not self._thread.is_alive()


def _reached(definition: Definition) -> ReachedRemote:
    port, user = definition.properties["port"], definition.properties.get("user")
    return ReachedRemote((port, user), f"127.0.0.1:{port}", user, opening(int(port)))
