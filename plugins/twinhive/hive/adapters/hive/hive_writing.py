"""Send writes to a metastore, each once, and restate a refusal as what reading afterwards shows."""

from collections.abc import Callable
from typing import Any, TypeVar

from hive_metastore import ttypes

from twinhive.core.model.errors import Refused, TwinhiveError
from twinhive.core.model.text import Text
from twinhive.hive.adapters.hive.hive_reader import ThriftMetastoreReader
from twinhive.hive.adapters.hive.thrift_connection import Request

Kind = TypeVar("Kind", bound=TwinhiveError)

_KEEP_STATISTICS = {"DO_NOT_UPDATE_STATS": "true"}
"""Without this the server lists a location that exists and replaces the statistics in the parameters."""


def keeping_statistics(**properties: str) -> Any:
    """Return the environment of a change: statistics stay as given, and what else it is told."""
    return ttypes.EnvironmentContext({**_KEEP_STATISTICS, **properties})


def restated(refusal: Refused, kind: type[Kind], what: str, next_step: Text | None = None) -> Kind:
    """Return another error for a refusal whose cause was read back; it keeps the server's words."""
    return kind(what, found=refusal.found, expected=refusal.expected, next_step=next_step or refusal.next_step)


class WritingMetastore(ThriftMetastoreReader):
    """Be the base of everything that writes."""

    def _write(self, doing: str, call: Callable[[Any], Any]) -> Any:
        return self.connections.write(Request(doing, call))
