"""Break real servers in the ways that the runbooks mend."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg2
from psycopg2 import sql

from sandbox import Sandbox
from sandbox.running import processes

SOURCE_LOG = "metastore_east"


@contextmanager
def frozen(box: Sandbox, server: str) -> Iterator[None]:
    """Let a server take connections and answer nobody for a while."""
    record = processes.read_record(box.layout.pid_file(server))
    assert record
    os.kill(record.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(record.pid, signal.SIGCONT)


@dataclass(frozen=True)
class Databases:
    """Do to the databases behind metastores and Airflow what nobody should."""

    box: Sandbox

    def execute(self, database: str, statement: Any, *values: object) -> None:
        """Run one statement."""
        connection = psycopg2.connect(self.box.postgres_url(database).replace("+psycopg2", ""))
        try:
            connection.autocommit = True
            with connection.cursor() as cursor:
                cursor.execute(statement, values)
        finally:
            connection.close()

    def lose_event(self, event_id: int) -> None:
        """Delete a row of the source's notification log, as its cleaner does with old ones."""
        self.execute(SOURCE_LOG, 'DELETE FROM "NOTIFICATION_LOG" WHERE "EVENT_ID" = %s', event_id)

    @contextmanager
    def lost_events(self, first: int, last: int) -> Iterator[None]:
        """Let rows of the source's notification log be gone for a while: other tests read the same log."""
        which = 'FROM "NOTIFICATION_LOG" WHERE "EVENT_ID" BETWEEN %s AND %s'
        self.execute(SOURCE_LOG, f"CREATE TABLE lost_events AS SELECT * {which}", first, last)
        self.execute(SOURCE_LOG, f"DELETE {which}", first, last)
        try:
            yield
        finally:
            self.execute(SOURCE_LOG, 'INSERT INTO "NOTIFICATION_LOG" SELECT * FROM lost_events')
            self.execute(SOURCE_LOG, "DROP TABLE lost_events")

    def poison_event(self, event_id: int) -> None:
        """Make a message of the source's notification log unreadable."""
        self.execute(SOURCE_LOG, """UPDATE "NOTIFICATION_LOG" SET "MESSAGE" = 'H4sI' WHERE "EVENT_ID" = %s""", event_id)

    def drop(self, database: str) -> None:
        """Drop a whole database."""
        self.execute("postgres", sql.SQL("DROP DATABASE IF EXISTS {}").format(sql.Identifier(database)))

    def create(self, database: str, like: str = "template1") -> None:
        """Create a database, as a copy of another one that nobody is connected to."""
        statement = sql.SQL("CREATE DATABASE {} TEMPLATE {}")
        self.execute("postgres", statement.format(sql.Identifier(database), sql.Identifier(like)))

    @contextmanager
    def stopped(self, server: str) -> Iterator[None]:
        """Stop a server for a while."""
        self.box.stop(server)
        try:
            yield
        finally:
            self.box.start(server)


@contextmanager
def without_room(box: Sandbox, cluster: str) -> Iterator[None]:
    """Let the DataNode of a cluster report that its disk is full: all of it is reserved for others.

    The NameNode then does what it does with full disks, and the machine's own disk stays as it is.
    """
    datanode = f"{cluster}-datanode"
    box.stop(datanode)
    box.start(datanode, overrides={"dfs.datanode.du.reserved": str(10**16)})
    try:
        yield
    finally:
        box.stop(datanode)
        box.start(datanode)
