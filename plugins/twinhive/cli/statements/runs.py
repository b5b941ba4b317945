"""What commands that run statements share: the Spark that copies, and how a dry run is printed."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from twinhive.cli.base import configuration_of
from twinhive.cli.connection_sources import resolver
from twinhive.cli.json_output import print_json
from twinhive.cli.pairs import pair
from twinhive.cli.terminal import NOTHING_CHANGED, say
from twinhive.model.policy import Options
from twinhive.spark.cluster import SparkCluster
from twinhive.statements.running import SparkOf, StatementPlace

SparkMaster = Annotated[
    str | None,
    typer.Option(metavar="MASTER", help="Use Spark for large copies: yarn, local[4], spark://host:7077"),
]
SparkTasks = Annotated[
    int | None,
    typer.Option(help="With --spark: tasks that copy at the same time. Default: that of the policy or of WITH"),
]
SparkConf = Annotated[list[str] | None, typer.Option(metavar="KEY=VALUE", help="With --spark: a setting")]


def place_of(
    config: Path | None,
    cluster: str | None,
    policy: str | None,
    master: str | None,
    tasks: int | None,
    conf: Sequence[str] | None,
) -> StatementPlace:
    """Return where a statement runs. Raises InvalidSettings."""
    # --tasks alone says nothing, --spark-conf without --spark is refused.
    copies = _spark_of(master, tasks, conf or ()) if master is not None or conf else None
    return StatementPlace(configuration_of(config), resolver(), cluster, policy, copies)


def _spark_of(master: str | None, tasks: int | None, conf: Sequence[str]) -> SparkOf:
    """Return what finds the Spark that is named. Raises InvalidSettings for what is wrong with it."""
    said = [pair(text) for text in conf]

    def of(name: str, options: Options) -> SparkCluster:
        at_once = options.spark_tasks if tasks is None else tasks
        return SparkCluster.of(master, at_once, (*options.spark_conf.items(), *said))

    # What is wrong is told before anything is done.
    of("", Options())
    return of


def print_plan(lines: list[str], *, as_json: bool) -> None:
    """Print the lines of a dry run."""
    if as_json:
        print_json({"dry_run": True, "said": lines})
    else:
        say(*lines, NOTHING_CHANGED)
