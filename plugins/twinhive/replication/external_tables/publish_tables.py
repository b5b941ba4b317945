"""Publish external tables whose data has come, several at a time."""

from collections.abc import Iterator, Sequence

from twinhive.core.model.errors import ActNow
from twinhive.core.model.names import TableName
from twinhive.core.threads.parallel_stream import in_parallel
from twinhive.replication.apply.apply_failures import IsFinal
from twinhive.replication.apply.external.external_target import ExternalTarget
from twinhive.replication.apply.external.pending_publication import Published, Publishing, needs_others

_THREADS = 4
_READ_TOGETHER = 100


def publish_ready(external: ExternalTarget, tables: Sequence[str], is_final: IsFinal) -> Published:
    """Publish every object of some source tables whose data is there; say what is left of all.

    Tables with foreign keys come one after the other, in the order of their names, when all others are there. A detail
    that is refused is left out when `is_final` says so of its error.
    """
    publishing = _Tables(external, is_final)
    pieces = list(_pieces(tables))
    threads = max(1, min(_THREADS, len(pieces)))
    done = sum(in_parallel(pieces, threads, publishing.those_apart, "publish"), Published())
    if publishing.later:
        done += publishing.all_of(Publishing(external, is_final), sorted(publishing.later))
    refused = dict(sorted(done.refused.items()))
    left = tuple(table for table in external.pending.tables if external.target.policy.selects(table))
    return Published(done.tables, done.partitions, left, refused, tuple(sorted(done.left_out)))


class _Tables:
    """The tables to publish; `later` are those that need others, which threads leave."""

    def __init__(self, external: ExternalTarget, is_final: IsFinal) -> None:
        self._pending = external.pending
        self._external = external
        self._is_final = is_final
        self.later: list[str] = []

    def those_apart(self, pieces: Iterator[Sequence[str]]) -> Published:
        """Publish pieces of the list in one thread, but for tables that need others."""
        publishing = Publishing(self._external, self._is_final)
        return sum((self.all_of(publishing, piece, apart=True) for piece in pieces), Published())

    def all_of(self, publishing: Publishing, tables: Sequence[str], *, apart: bool = False) -> Published:
        """Publish some tables, one after the other."""
        publishing.look_for(tables)
        return sum((self._one(publishing, table, apart=apart) for table in tables), Published())

    def _one(self, publishing: Publishing, table: str, *, apart: bool) -> Published:
        name = TableName(self._external.target.policy.source.database, table)
        try:
            record = self._pending.get(name)
            if apart and needs_others(record):
                self.later.append(table)
                return Published()
            return publishing.publish(record)
        except ActNow as error:  # no other table suffers for it
            return Published(refused={table: error})
        finally:
            self._pending.release(name)


def _pieces(tables: Sequence[str]) -> Iterator[Sequence[str]]:
    size = max(1, min(_READ_TOGETHER, -(-len(tables) // _THREADS)))
    return (tables[start : start + size] for start in range(0, len(tables), size))
