"""What commands that run statements share: the Spark that copies, and how a dry run is printed."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from twinhive.core.model.policy import Options
from twinhive.runtime.spark.cluster import SparkCluster
from twinhive.statements.execution import SparkOf, StatementPlace
from twinhive.surfaces.cli.command_line import configuration_of
from twinhive.surfaces.cli.connection_sources import resolver
from twinhive.surfaces.cli.json_output import print_json
from twinhive.surfaces.cli.key_value_options import pair
from twinhive.surfaces.cli.terminal import NOTHING_CHANGED, say

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
    return StatementPlace(configuration_of(config), resolver(), cluster, policy, spark_of(master, tasks, conf))


def spark_of(master: str | None, tasks: int | None, conf: Sequence[str] | None) -> SparkOf | None:
    """Return what finds the Spark that is named, None where none is. Raises InvalidSettings for what is wrong with it.

    `tasks` alone names none; `conf` without `master` is refused.
    """
    if master is None and not conf:
        return None
    said = [pair(text) for text in conf or ()]

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
