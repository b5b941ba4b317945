"""Scripts of several statements: `USE CLUSTER c`, `USE CLUSTER` and `USE db` say where the next ones run.

These are read here: sqlglot takes CLUSTER for the name of a database.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from twinhive.core.model.errors import ActNow
from twinhive.federation.routing.statement_splitter import cut
from twinhive.federation.routing.use_cluster import use_cluster

_NAME = r"(?:`(?P<quoted>[^`]+)`|(?P<plain>[\w-]+))"
_GAP = r"(?:\s+|(?=`))"
_USE = re.compile(
    rf"use{_GAP}(?:(?:database|schema|namespace){_GAP})?(?:`?(?:hive|spark_catalog)`?\s*\.\s*)?{_NAME}", re.IGNORECASE
)
_ANY_USE = re.compile(r"use\b|set\s+catalog\b", re.IGNORECASE)
_DEFAULT_CLUSTER = re.compile(r"(?:set|reset)\s+(?:hiveconf:|metaconf:)?`?hive\.use\.default\.cluster\b.*", re.I | re.S)


@dataclass(frozen=True)
class InSession:
    """A statement of a script, with the database and the cluster (None: whichever fits) of the session at it."""

    sql: str
    database: str
    cluster: str | None


def statements_of(
    script: str, database: str, cluster: str | None = None, known: Callable[[str], str] = str
) -> Iterator[InSession]:
    """Yield the statements of a script that are to be run, each in its session. Raises ActNow.

    `known` returns a cluster that USE CLUSTER names, or raises: also where no statement follows.
    """
    for statement in cut(script):
        bare = statement.bare
        if said := use_cluster(bare):
            cluster = said.cluster and known(said.cluster)
        elif found := _USE.fullmatch(bare):
            database = (found["quoted"] or found["plain"]).lower()
        elif _ANY_USE.match(bare):
            raise _unknown_use(bare)
        elif _DEFAULT_CLUSTER.fullmatch(bare):
            raise _no_such_setting(bare)
        else:
            yield InSession(statement.text, database, cluster)


def _unknown_use(text: str) -> ActNow:
    return ActNow(
        "where the next statements would look for their tables cannot be told",
        found=" ".join(text.split())[:200],
        expected="USE database, USE CLUSTER cluster, or USE CLUSTER",
        next_step="name a database of this metastore, or write it before the names of the tables",
    )


def _no_such_setting(text: str) -> ActNow:
    """Return why seed 000's setting is none: the rules are always those that it would turn on."""
    return ActNow(
        "hive.use.default.cluster is no setting here",
        found=" ".join(text.split())[:200],
        expected="no such line: a table that names no cluster belongs to the default cluster, and each statement runs "
        "where its tables are",
        next_step="leave the line out; to run on one cluster and no other, write USE CLUSTER with its name instead",
    )
