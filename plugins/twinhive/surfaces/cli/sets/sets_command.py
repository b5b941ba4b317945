"""Say and ask which sets of partitions are done (seed 003, docs/sets.md)."""

import getpass
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any

import typer

from twinhive.core.model.errors import InvalidSettings
from twinhive.core.model.names import TableName
from twinhive.core.ports import MetastoreWriter
from twinhive.publishing.sets.listed_sets import SetsOfDatabase, left_behind, take_away
from twinhive.publishing.sets.marking_sets import MarkSet, UnmarkSet
from twinhive.publishing.sets.set_waiting import wait_for_set, wanted_set
from twinhive.runtime.wiring.cluster_wiring import cluster_metastore
from twinhive.surfaces.cli.command_line import configuration_of, local_cluster
from twinhive.surfaces.cli.connection_sources import resolver
from twinhive.surfaces.cli.json_output import print_json
from twinhive.surfaces.cli.sets.printed_sets import listed_fields, mark_fields, print_listed, standing_of
from twinhive.surfaces.cli.terminal import NOTHING_CHANGED, AsJson, Config, DryRun, errors_shown, say, waiting

app = typer.Typer(rich_markup_mode=None)


class SetAction(StrEnum):
    """What is done with sets."""

    LIST = "list"
    MARK = "mark"
    UNMARK = "unmark"
    WAIT = "wait"
    EXPIRE = "expire"


@dataclass(frozen=True)
class _Asked:
    """What was typed, and where it leads."""

    metastore: MetastoreWriter
    place: str
    text: str | None
    keep: str
    token: str
    note: str | None
    seconds: int
    dry_run: bool

    @property
    def table(self) -> TableName:
        return TableName.given(self.place)

    @property
    def spec(self) -> str:
        if self.text is None:
            raise InvalidSettings(
                "which set is meant was not said",
                found="no SET",
                expected="key=value/key=value, or * for the whole table",
                next_step="name the set behind the table",
            )
        return self.text


@app.command()
def sets(
    action: Annotated[SetAction, typer.Argument(metavar="ACTION", help="list, mark, unmark, wait or expire")],
    cluster: Annotated[str, typer.Argument(metavar="CLUSTER", help="A cluster of clusters.yaml")],
    table: Annotated[
        str, typer.Argument(metavar="TABLE", help="database.table; to list and expire a database will do")
    ],
    set_: Annotated[
        str | None,
        typer.Argument(
            metavar="[SET]", help="key=value/key=value in any order, or * for the whole table", show_default=False
        ),
    ] = None,
    token: Annotated[
        str | None, typer.Option(help="mark: a name of the work that marks; the same one again counts once")
    ] = None,
    note: Annotated[str | None, typer.Option(help="mark: a text for whoever lists the sets")] = None,
    timeout: Annotated[int, typer.Option(min=0, help="wait: for so many seconds; 0 looks once")] = 0,
    dry_run: DryRun = False,
    as_json: AsJson = False,
    config: Config = None,
) -> None:
    """Say that a set of partitions is done, ask for sets, or wait for one.

    A set is all partitions of a table with some values of its keys. `wait` ends well when it is done, or a broader one
    is, and says "try again" when the time is over. `expire` takes away marks that count no longer.
    """
    with errors_shown(as_json=as_json):
        configuration = configuration_of(config)
        chosen = local_cluster(configuration, cluster)
        asked = _Asked(
            cluster_metastore(configuration, chosen, resolver()),
            table,
            set_,
            configuration.clusters[chosen].sets.keep,
            f"terminal-{uuid.uuid4().hex}" if token is None else token,
            note,
            timeout,
            dry_run,
        )
        document, lines = _ACTIONS[action](asked)
    if as_json:
        print_json({"cluster": chosen, "action": action.value, "dry_run": dry_run, **document})
    elif action is SetAction.LIST:
        print_listed(document["sets"])
    else:
        say(*lines, *([NOTHING_CHANGED] if dry_run else []))


_Answer = tuple[dict[str, Any], list[str]]


def _list(asked: _Asked) -> _Answer:
    return {"sets": [listed_fields(one) for one in _listed(asked).read()]}, []


def _mark(asked: _Asked) -> _Answer:
    order = MarkSet(asked.table, asked.spec, asked.token, getpass.getuser(), asked.note, asked.keep)
    outcome = order.plan(asked.metastore) if asked.dry_run else order.run(asked.metastore)
    mark, would = outcome.mark, "would be" if asked.dry_run else "is"
    held = "" if mark.partitions is None else f", with {mark.partitions} partitions"
    said = f"set {mark.spec} of {mark.table} {would} done{held}"
    again = "it was marked by this token before" if outcome.already else f"marked {mark.count} times"
    document = {"set": mark_fields(mark), "already": outcome.already}
    return document, [f"{said}: {again}" if outcome.already or mark.count > 1 else said]


def _unmark(asked: _Asked) -> _Answer:
    order = UnmarkSet(asked.table, asked.spec)
    found = order.plan(asked.metastore) if asked.dry_run else order.run(asked.metastore)
    would = "would not be" if asked.dry_run else "is not"
    said = f"{would} marked any more" if found else "is not marked: nothing to do"
    return {"table": str(asked.table), "was_marked": found}, [f"set {asked.spec} of {asked.table} {said}"]


def _wait(asked: _Asked) -> _Answer:
    wanted = wanted_set(asked.metastore, asked.table, asked.spec)
    with waiting(f"waiting for set {wanted.spec} of {wanted.table}"):
        mark = wait_for_set(asked.metastore, wanted, 0 if asked.dry_run else asked.seconds, asked.keep)
    by = "" if mark.spec == str(wanted.spec) else f", by the broader set {mark.spec}"
    return {"wanted": str(wanted.spec), "set": mark_fields(mark)}, [f"set {wanted.spec} of {wanted.table} is done{by}"]


def _expire(asked: _Asked) -> _Answer:
    listed = _listed(asked)
    found = left_behind(listed)
    if not asked.dry_run:
        found = take_away(asked.metastore, listed.database, found)
    would = "would be taken away" if asked.dry_run else "taken away"
    lines = [f"set {one.mark.spec} of {one.mark.table} {would}: {standing_of(one)}" for one in found]
    return {"sets": [listed_fields(one) for one in found]}, lines or ["there is nothing to take away"]


_ACTIONS: Mapping[SetAction, Callable[[_Asked], _Answer]] = {
    SetAction.LIST: _list,
    SetAction.MARK: _mark,
    SetAction.UNMARK: _unmark,
    SetAction.WAIT: _wait,
    SetAction.EXPIRE: _expire,
}


def _listed(asked: _Asked) -> SetsOfDatabase:
    database, dot, table = asked.place.lower().partition(".")
    if asked.metastore.database(database) is None:
        raise InvalidSettings(
            f"there is no database {database}",
            found=asked.place,
            expected="a database, or database.table",
            next_step="correct the name",
        )
    return SetsOfDatabase(asked.metastore, database, table if dot else None, asked.keep)
