"""A text of one statement or several: each is said to the cluster that USE CLUSTER names before it (seed 000).

Everything is read before anything is run.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from twinhive.core.model.errors import ActNow, InvalidSettings
from twinhive.core.model.next_steps import command
from twinhive.federation.routing.statement_splitter import Cut, cut
from twinhive.federation.routing.use_cluster import use_cluster
from twinhive.statements.execution.statement_cluster import StatementPlace
from twinhive.statements.language import parse
from twinhive.statements.remote_language.remote_parsing import is_about_remotes, parse_remote
from twinhive.statements.remote_language.remote_values import UseDatabase
from twinhive.statements.table_language.table_parsing import is_about_table_files, parse_table_statement

_SQL = re.compile(
    r"(select|values|insert|with|from|merge|update|delete|load|truncate|create|alter|drop|analyze|explain|msck|show|set)\b",
    re.IGNORECASE,
)
"""How a statement begins that engines run."""
_SHOWN = 200


@dataclass(frozen=True)
class Said:
    """A statement, or several about remotes with their USE, and where they are run.

    Their places in the text are those in the script, so that an error points at the right line.
    """

    text: str
    place: StatementPlace


def said_in(script: str, place: StatementPlace) -> list[Said]:
    """Return what a text says. Raises InvalidSettings, ActNow for SQL that engines run."""
    cuts = cut(script)
    # Of a text without a statement the parser says what it misses.
    said = list(_said(script, cuts, place)) if cuts else [Said(script, place)]
    # All are looked at before the first is run.
    for one in said:
        if one.place.cluster and one.place.cluster != place.cluster:
            one.place.cluster_named(one.place.cluster, "USE CLUSTER")
    return said


def _said(script: str, cuts: Sequence[Cut], place: StatementPlace) -> Iterator[Said]:
    database: Cut | None = None
    remotes: list[Cut] = []
    for one in cuts:
        said = use_cluster(one.bare)
        if said is None and is_about_remotes(one.text):
            if not remotes and database is not None:
                remotes = [database]
            remotes.append(one)
            if isinstance(parse_remote(_only(script, [one])), UseDatabase):
                database = one
            continue
        if remotes:
            yield Said(_only(script, remotes), place)
            remotes = []
        if said is not None:
            place = replace(place, cluster=said.cluster and _known(said.cluster, place))
            continue
        _refuse_sql(one, place)
        text = _only(script, [one])
        _read(text, database)
        yield Said(text, place)
    if remotes:
        yield Said(_only(script, remotes), place)


def _only(script: str, cuts: Sequence[Cut]) -> str:
    """Return some statements of a script where they stand in it; all else is blank."""
    text, at = "", 0
    for one in cuts:
        text += re.sub(r"[^\n]", " ", script[at : one.begin]) + script[one.begin : one.end + 1]
        at = one.end + 1
    return text


def _read(text: str, database: Cut | None) -> None:
    if not is_about_table_files(text):
        parse(text)
        return
    parse_table_statement(text)
    if database is not None:
        raise InvalidSettings(
            "EXPORT and IMPORT do not follow USE",
            found=f"{database.bare} before {' '.join(text.split())[:_SHOWN]}",
            expected="a script in which they stand before it, or without it",
            next_step="write the database before the name of the table, and leave USE out",
        )


def _known(name: str, place: StatementPlace) -> str:
    clusters = place.configuration.clusters
    if name in clusters:
        return name
    place.configuration.refuse_wrong_clusters()
    raise InvalidSettings(
        f"USE CLUSTER: there is no cluster {name}",
        found=name,
        expected=f"one of {', '.join(sorted(clusters)) or '(none is configured)'}",
        next_step="correct USE CLUSTER, or add the cluster to clusters.yaml",
    )


def _refuse_sql(one: Cut, place: StatementPlace) -> None:
    """Refuse what only Spark and Hive can run, and say how to learn where, and how to run it there."""
    if is_about_table_files(one.text) or not _SQL.match(one.bare):
        return
    shown = " ".join(one.text.split())
    words = (*(("--cluster", place.cluster) if place.cluster else ()), shown)
    route = command("twinhive", "route", *words) if len(shown) <= _SHOWN else "twinhive route"
    raise ActNow(
        "this statement is one of SQL: the Spark of a cluster runs it",
        found=f"{shown[:_SHOWN]}{'...' if len(shown) > _SHOWN else ''}",
        expected="REPL DUMP, LOAD or STATUS, EXPORT or IMPORT TABLE, or a statement about remotes",
        next_step="see where it runs: " + route + "; run it there by a task: ClusterSqlOperator (docs/routing.md)",
    )
