"""What Hive asks to prune partitions: at a cluster's port each partition says its own place.

Hive 4 asks `get_partitions_spec_by_expr`, whose answers put partitions below a place that they share. Copies share
none. The same answer can hold whole partitions, as it does for those that lie outside of their table: so the port asks
`get_partitions_by_expr`, which takes the same request, shows its answer, and wraps that.
"""

from dataclasses import dataclass, replace
from struct import Struct as Packing
from typing import Final

from twinhive.federation.cluster_view.cluster_port import ClusterPort, Port
from twinhive.federation.gateway.call_outcomes import CallOutcome, Pieces
from twinhive.federation.gateway.request_names import named_in
from twinhive.federation.gateway.streamed_answers import PieceSink
from twinhive.hive.wire.method_table import BOOL, LIST, STRUCT
from twinhive.hive.wire.thrift_message import (
    STOP,
    Head,
    MessageKind,
    WireError,
    WireMessage,
    call,
    message_with,
    text_field,
)
from twinhive.hive.wire.thrift_skip import end_of_value

_ASKED, _INSTEAD = "get_partitions_spec_by_expr", "get_partitions_by_expr"
_FIELD: Final = Packing("!bh").pack
_LIST: Final = Packing("!bi").pack
_RESULT: Final = _FIELD(STRUCT, 0)
_PARTITIONS, _UNKNOWN = _FIELD(LIST, 1), _FIELD(BOOL, 2)
_DATABASE, _TABLE, _COMPOSED = 1, 2, _FIELD(STRUCT, 5)
_TAIL: Final = len(_UNKNOWN) + 1 + 2 * len(STOP)
"""Bytes after the list: whether partitions are among them that may not fit, and the ends of two structs."""


@dataclass(frozen=True)
class ByExpression:
    """A call of Hive's, and the one that is made instead."""

    asked: WireMessage

    @property
    def instead(self) -> WireMessage:
        """The call to make."""
        return call(_INSTEAD, self.asked.head.sequence, self.asked.body)

    def wrapped(self, outcome: CallOutcome) -> CallOutcome:
        """Return the outcome of the other call as one of Hive's. Raises WireError."""
        answer = outcome.answer
        head = Head(answer.head.kind, _ASKED, self.asked.head.sequence)
        if isinstance(answer, Pieces):
            return replace(outcome, answer=replace(answer, head=head, some=_Rewritten(self, answer, head).some))
        if answer.head.kind is not MessageKind.REPLY or not answer.body.startswith(_RESULT):
            return replace(outcome, answer=message_with(head, answer.body))
        return replace(outcome, answer=message_with(head, self._whole(answer.body)))

    def _whole(self, body: bytes) -> bytes:
        begin = len(_RESULT) + len(_PARTITIONS)
        if body[len(_RESULT) : begin] != _PARTITIONS or begin >= len(body):
            raise _unlike()
        end = end_of_value(body, LIST, begin)
        return b"".join((self.before, body[begin:end], STOP, STOP, _checked(body[end:])))

    @property
    def before(self) -> bytes:
        """All before the list of partitions: a result, one specification, and that it is of whole partitions."""
        named = next(iter(named_in(self.asked)))
        names = text_field(_DATABASE, named.database) + text_field(_TABLE, named.table or "")
        return b"".join((_RESULT, _PARTITIONS, _LIST(STRUCT, 1), names, _COMPOSED, _PARTITIONS))


class _Rewritten:
    """Hand a long answer on as it comes; what may be its end is held until it has ended."""

    def __init__(self, asked: ByExpression, answer: Pieces, head: Head) -> None:
        self._answer, self._new = answer, head.encoded + asked.before
        self._before = answer.head.encoded + _RESULT + _PARTITIONS
        self._held, self._is_begun = b"", False
        self._sink: PieceSink

    async def some(self, sink: PieceSink) -> bool:
        """Hand on, as `HandOn`. Raises WireError for another answer than such a list."""
        self._sink = sink
        if has_ended := await self._answer.some(self):
            sink.write(STOP + STOP + _checked(self._held))
        return has_ended

    @property
    def is_full(self) -> bool:
        return self._sink.is_full

    def write(self, data: bytes) -> None:
        self._held += data
        if not self._is_begun and len(self._held) >= len(self._before):
            if not self._held.startswith(self._before):
                raise _unlike()
            self._held, self._is_begun = self._held[len(self._before) :], True
            self._sink.write(self._new)
        if self._is_begun and len(self._held) > _TAIL:
            self._sink.write(self._held[:-_TAIL])
            self._held = self._held[-_TAIL:]


def by_expression(port: Port | None, request: WireMessage) -> ByExpression | None:
    """Return what to do for a call by which Hive prunes at a cluster's port; None for any other."""
    return ByExpression(request) if request.head.method == _ASKED and isinstance(port, ClusterPort) else None


def _checked(tail: bytes) -> bytes:
    if len(tail) != _TAIL or not tail.startswith(_UNKNOWN):
        raise _unlike()
    return tail


def _unlike() -> WireError:
    return WireError(f"an answer to {_INSTEAD} that is not a list of partitions and one truth value")
