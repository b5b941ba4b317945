"""What a Java exception means to whoever has to decide whether work is tried again."""

from typing import Any

import pytest

from twinhive.core.model.errors import Refused, TwinhiveError, Unexplained, Unreachable
from twinhive.hive.adapters.hdfs.hadoop_errors import as_ours


class _Class:
    def __init__(self, name: str) -> None:
        self._name = name

    def getName(self) -> str:
        return self._name


def java(name: str, *above: str) -> Any:
    """Return what a Java exception looks like: a class, and those that it extends."""
    kind: type = object
    for one in reversed((name, *above)):
        kind = type("Java", (kind,), {"class_": _Class(one), "getMessage": lambda self: "why\n\tat x"})
    return kind()


def remote(name: str) -> Any:
    """Return what the client throws for an exception of the server whose class it does not have."""
    error = java("org.apache.hadoop.ipc.RemoteException", "java.io.IOException")
    type(error).getClassName = lambda self: name
    return error


@pytest.mark.parametrize(
    ("error", "family"),
    [
        (java("org.apache.hadoop.hdfs.protocol.NextYearsException", "java.io.IOException"), Unexplained),
        (java("java.lang.IllegalStateException", "java.lang.RuntimeException"), Unexplained),
        (remote("java.lang.NullPointerException"), Unexplained),
        (remote("org.apache.hadoop.hdfs.server.namenode.LeaseExpiredException"), Unexplained),
        (remote("org.apache.hadoop.hdfs.protocol.FSLimitException$PathComponentTooLongException"), Refused),
        (remote("org.apache.hadoop.fs.ParentNotDirectoryException"), Refused),
        (java("org.apache.hadoop.security.AccessControlException", "java.io.IOException"), Refused),
        (java("java.io.IOException"), Unreachable),
    ],
)
def test_what_no_class_names_is_tried_again_before_it_is_held_for_a_refusal(
    error: Any, family: type[TwinhiveError]
) -> None:
    ours = as_ours(error, "hdfs://west", "/w/t")
    assert type(ours) is family
    assert "/w/t" in ours.what and str(ours.found).endswith(": why")
