"""Say what the sandbox must know about a server to run it."""

import signal
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Launch:
    """Describe the process of a server."""

    command: list[str]
    environment: dict[str, str] = field(default_factory=dict)
    user: str | None = None
    directory: Path | None = None


class Server(ABC):
    """Be one process (with its children) that can be started, checked and stopped by name."""

    name: str
    depends_on: tuple[str, ...] = ()
    """Which servers it does not work without."""
    after: tuple[str, ...] = ()
    """Which servers it does without, but starts after when both are started."""
    ports: Mapping[str, int]
    start_seconds = 300.0
    """How long it may take to become ready, on a machine that has much else to do; one that has ended is noticed."""
    stop_signal = signal.SIGTERM
    stop_seconds = 10.0
    """How long it may take to end by itself."""

    @abstractmethod
    def prepare(self, overrides: Mapping[str, str]) -> None:
        """Write the configuration, with `overrides` merged, and create the storage on first use."""

    @abstractmethod
    def launch(self) -> Launch:
        """Return the command to run."""

    @abstractmethod
    def is_ready(self) -> bool:
        """Tell whether it does its work, not just whether it runs."""

    def settle(self) -> None:  # noqa: B027 (most servers have nothing to do here)
        """Do what needs the running server, such as creating databases or directories."""
