"""What a metastore says when it, its database or its file system cannot do anything now, in the words of each."""

import re

import pytest
from hive_metastore.ttypes import (
    AlreadyExistsException,
    ConfigValSecurityException,
    InvalidObjectException,
    InvalidOperationException,
    MetaException,
    NoSuchObjectException,
)
from thrift.protocol.TProtocol import TProtocolException
from thrift.Thrift import TApplicationException, TException

from twinhive.core.model.errors import AlreadyThere, Missing, Refused, TryAgain, TwinhiveError, Unwell, may_pass
from twinhive.hive.adapters.hive.thrift_failures import failure
from twinhive.hive.adapters.hive.transient_errors import TROUBLES, passing_trouble

PASSING = {
    "pool": (
        "javax.jdo.JDODataStoreException: HikariPool-1 - Connection is not available, request timed out after 30000ms",
        "java.sql.SQLTransientConnectionException: HikariPool-2 - Connection",
        "java.sql.SQLException: Timed out waiting for a free available connection.",
        "org.apache.commons.dbcp2: Cannot get a connection, pool error Timeout waiting for idle object",
        "Unable to open a test connection to the given database. JDBC url = jdbc:postgresql://db/hive",
        "Failed to initialize pool: FATAL: something",
        "Pool is shutting down",
        "HikariDataSource HikariDataSource (HikariPool-1) has been closed.",
    ),
    "locks": (
        'Put request failed : INSERT INTO "TBLS" ... PSQLException: ERROR: deadlock detected',
        "MySQLTransactionRollbackException: Deadlock found when trying to get lock; try restarting transaction",
        "Transaction (Process ID 54) was deadlocked on lock resources with another process",
        "java.sql.SQLException: ORA-00060: deadlock detected while waiting for resource",
        "ERROR 40XL1: A lock could not be obtained within the time requested",
        "ERROR 40001: A lock could not be obtained due to a deadlock, cycle of locks and waiters is:",
        "Lock wait timeout exceeded; try restarting transaction",
        "ERROR: could not serialize access due to concurrent update",
        "ORA-08177: can't serialize access for this transaction",
        "ERROR: canceling statement due to lock timeout",
        "ERROR: canceling statement due to conflict with recovery",
        "Couldn't acquire the DB log notification lock because we reached the maximum # of retries: 10 retries.",
    ),
    "database": (
        "FATAL: terminating connection due to administrator command",
        "FATAL: terminating connection due to idle-in-transaction timeout",
        "FATAL: the database system is starting up",
        "FATAL: the database system is shutting down",
        "FATAL: the database system is in recovery mode",
        "FATAL: sorry, too many clients already",
        "FATAL: remaining connection slots are reserved for roles with the SUPERUSER attribute",
        'Data source rejected establishment of connection,  message from server: "Too many connections"',
        "ERROR: cannot execute INSERT in a read-only transaction",
        "The MySQL server is running with the --super-read-only option so it cannot execute this statement",
        "org.postgresql.util.PSQLException: This connection has been closed.",
        "An I/O error occurred while sending to the backend.",
        "Connection to db.west:5432 refused. Check that the hostname and port are correct and that the postmaster",
        "PSQLException: The connection attempt failed.",
        "CommunicationsException: Communications link failure",
        "No operations allowed after connection closed.",
        "Server shutdown in progress",
        "WSREP has not yet prepared node for application use",
        "java.sql.SQLRecoverableException: Closed Connection",
        "java.sql.SQLNonTransientConnectionException: Got timeout reading communication packets",
        "org.datanucleus.exceptions: javax.jdo.JDOConnectionException: error",
        "IO Error: The Network Adapter could not establish the connection",
        "ORA-01033: ORACLE initialization or shutdown in progress",
        "ORA-03113: end-of-file on communication channel",
    ),
    "itself": (
        "javax.jdo.JDOFatalUserException: Persistence Manager has been closed",
        "javax.jdo.JDOUserException: Transaction is not active",
        "commitTransaction was called but openTransactionCalls = 0. This probably indicates unbalanced calls",
        "Timeout when executing method: get_partitions_by_names_req; 600002ms exceeds 600000ms",
        "java.lang.OutOfMemoryError: GC overhead limit exceeded",
        "java.lang.Error: Java heap space",
        "unable to create new native thread",
    ),
    "file system": (
        "Operation category WRITE is not supported in state standby. Visit https://s.apache.org/sbnn-error",
        "org.apache.hadoop.ipc.RemoteException(org.apache.hadoop.ipc.StandbyException): it",
        "Got exception: org.apache.hadoop.ipc.RemoteException(...SafeModeException): Cannot create directory /w/t.",
        "Name node is in safe mode. The reported blocks 0 needs additional 5 blocks",
        "Call From hms/10.0.0.5 to nn:8020 failed on connection exception",
        "Got exception: java.net.ConnectException Call From hms to nn:8020",
        "File /w/t/f could only be written to 0 of the 1 minReplication nodes.",
        "All datanodes [DatanodeInfoWithStorage[10.0.0.7:9866]] are bad. Aborting...",
    ),
}
REFUSALS = (
    "Permission denied: user [ann] does not have [ALTER] privilege on [sales/orders]",
    "java.security.AccessControlException: Permission denied: user=ann, access=WRITE",
    "ERROR: value too long for type character varying(4000) (javax.jdo.JDODataStoreException: Put request failed)",
    "java.io.FileNotFoundException: File does not exist: hdfs://east/jars/old.jar",
    "Cannot change location of a managed table sales.deadlock",
    "Timestamps of partition timeout=1 cannot be read",
    "Column connection doesn't exist",
    "The table has been modified. The parameter value for key 'twinhive.stamp' is 'log:7'.",
)
KINDS = (MetaException, InvalidOperationException, InvalidObjectException)
SAMPLES = [text for texts in PASSING.values() for text in texts]


def judged(error: TException, *, well: bool = True) -> TwinhiveError:
    return failure("altering table sales.orders", "west:9083", error, lambda: well)


@pytest.mark.parametrize("text", SAMPLES)
def test_a_trouble_that_passes_is_tried_again_whatever_class_it_comes_as(text: str) -> None:
    for kind in KINDS:
        error = judged(kind(text))
        assert isinstance(error, Unwell)
        assert "altering table sales.orders" in error.what and text in str(error.found)
        assert "If it goes on, look at" in str(error.next_step)


@pytest.mark.parametrize("one", [one for trouble in TROUBLES for one in trouble.texts])
def test_each_line_knows_an_answer(one: str) -> None:
    assert any(re.search(one, text, re.IGNORECASE) for text in SAMPLES)


@pytest.mark.parametrize("text", REFUSALS)
def test_what_no_line_knows_is_tried_again_and_then_held_for_a_refusal_of_a_metastore_that_is_well(
    text: str,
) -> None:
    assert passing_trouble(text) is None
    error = judged(MetaException(text))
    assert isinstance(error, Refused)
    assert may_pass(error) and not may_pass(error, is_last_try=True)
    assert text in str(error.found) and "retries by itself" in str(error.next_step)
    assert isinstance(judged(MetaException(text), well=False), Unwell)


@pytest.mark.parametrize("kind", [InvalidObjectException, ConfigValSecurityException])
def test_a_class_that_says_what_is_wrong_is_never_tried_again(kind: type[TException]) -> None:
    assert not may_pass(judged(kind("no")))


def test_a_cause_below_the_first_line_counts_too() -> None:
    text = "Exception thrown when executing query\n\tat org.x.Y.z(Y.java:1)\nCaused by: ERROR: deadlock detected"
    error = judged(MetaException(text))
    assert isinstance(error, Unwell)
    assert "Y.java" not in str(error)


@pytest.mark.parametrize(
    ("error", "well", "family"),
    [
        (NoSuchObjectException("deadlock detected"), False, Missing),
        (AlreadyExistsException("deadlock detected"), False, AlreadyThere),
        (InvalidObjectException("invalid name"), False, Refused),
        (ConfigValSecurityException("javax.jdo.option.ConnectionPassword"), False, Refused),
        (TApplicationException(TApplicationException.UNKNOWN_METHOD, "Invalid method name"), False, Refused),
        (TApplicationException(TApplicationException.INTERNAL_ERROR, "Internal error"), True, Refused),
        (TApplicationException(TApplicationException.INTERNAL_ERROR, "Internal error"), False, TryAgain),
        (TApplicationException(TApplicationException.MISSING_RESULT, "unknown result"), False, TryAgain),
        (TApplicationException(TApplicationException.BAD_SEQUENCE_ID, "out of sequence"), True, TryAgain),
        (TApplicationException(TApplicationException.WRONG_METHOD_NAME, "another"), True, TryAgain),
        (TProtocolException(TProtocolException.BAD_VERSION, "Missing version"), True, Refused),
        (MetaException(None), True, Refused),
        (MetaException(None), False, TryAgain),
    ],
)
def test_classes_that_say_what_is_wrong_decide_alone(
    error: TException, well: bool, family: type[TwinhiveError]
) -> None:
    assert isinstance(judged(error, well=well), family)
