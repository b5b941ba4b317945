"""Name the troubles of a metastore, and of what it needs, that pass by themselves.

Hive answers a request that its database could not take now as it answers one that it will never take: by a
MetaException with a text, by an InvalidOperationException around whatever has happened, or by `Internal error`. So the
texts are all there is. They are those of servers and drivers, which people search for and programs depend on; the test
of each line holds such an answer. What no line knows is found out by asking (`thrift_failures`).
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Trouble:
    """Texts that speak of one trouble, as regular expressions; and what to look at when it goes on."""

    look_at: str
    texts: tuple[str, ...]


TROUBLES = (
    Trouble(
        "the metastore's pool of database connections (datanucleus.connectionPool.maxPoolSize), and who holds them",
        (
            r"Connection is not available, request timed out",
            r"\bSQLTransientConnectionException\b",
            r"Timed out waiting for a free available connection",
            r"Cannot get a connection, pool error",
            r"Unable to open a test connection to the given database",
            r"Failed to initialize pool",
            r"Pool is shutting down|HikariDataSource .* has been closed",
        ),
    ),
    Trouble(
        "who else writes to the metastore's database at the same time: locks and deadlocks in its log",
        (
            r"deadlock detected",
            r"Deadlock found when trying to get lock",
            r"was deadlocked on .*resources with another process",
            r"ORA-00060\b",
            r"A lock could not be obtained within the time requested",
            r"could not be obtained due to a deadlock",
            r"Lock wait timeout exceeded",
            r"could not serialize access",
            r"ORA-08177\b",
            r"canceling statement due to (lock timeout|statement timeout|conflict with recovery)",
            r"Couldn't acquire the DB log notification lock",
        ),
    ),
    Trouble(
        "the metastore's database: is it up, does it fail over, does it have free connections",
        (
            r"terminating connection due to",
            r"the database system is (starting up|shutting down|in recovery mode|not yet accepting connections)",
            r"sorry, too many clients already|remaining connection slots are reserved|\bToo many connections\b",
            r"cannot execute .+ in a read-only transaction",
            r"server is running with the --(super-)?read-only option",
            r"This connection has been closed",
            r"An I/O error occurred while sending to the backend",
            r"Connection to \S+ refused\. Check that the hostname and port are correct",
            r"\bThe connection attempt failed\b",
            r"Communications link failure",
            r"No operations allowed after (connection|statement) closed",
            r"Server shutdown in progress",
            r"WSREP has not yet prepared node",
            r"\b(SQLRecoverableException|SQLNonTransientConnectionException|SQLTransientException)\b",
            r"\bJDOConnectionException\b",
            r"The Network Adapter could not establish the connection",
            r"ORA-(00018|00020|01033|01034|01089|01092|03113|03114|12170|12514|12516|12519|12537|12541)\b",
        ),
    ),
    Trouble(
        "the metastore: a transaction of its own broke off, its log says why",
        (
            r"Persistence Manager has been closed",
            r"Transaction is not active",
            r"(commit|rollback)Transaction was called but open(Transaction)?Calls",
            r"Timeout when executing method",
            r"\bOutOfMemoryError\b|Java heap space|GC overhead limit exceeded|unable to create (new )?native thread",
        ),
    ),
    Trouble(
        "the file system behind the metastore: its NameNode and DataNodes",
        (
            r"Operation category \w+ is not supported in state standby",
            r"\b(StandbyException|RetriableException|SafeModeException)\b",
            r"Name ?node is in safe mode",
            r"failed on (connection|socket timeout) exception",
            r"\bjava\.net\.(ConnectException|SocketTimeoutException|NoRouteToHostException|SocketException)\b",
            r"could only be written to \d+ of the",
            r"All datanodes .* are bad",
        ),
    ),
)


def passing_trouble(text: str) -> Trouble | None:
    """Return the trouble that an answer of a metastore speaks of, None when no line knows it."""
    for trouble in TROUBLES:
        if any(re.search(one, text, re.IGNORECASE) for one in trouble.texts):
            return trouble
    return None
