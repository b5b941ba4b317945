"""Copy files between clusters, or within one: what DistCp does, as a command."""

from pathlib import Path
from typing import Annotated

import typer

from twinhive.surfaces.cli.copy_command import CopyCommand, read_lines
from twinhive.surfaces.cli.terminal import AsJson, Config, errors_shown

app = typer.Typer(rich_markup_mode=None)

_MAPPING = """
\b
DistCp                       here
-update                      the default
-overwrite                   --overwrite
(neither: skip what exists)  not offered: a file that is there is always compared
-delete                      --delete trash, or --delete permanently
-p[rbugpcaxt]                --preserve LETTERS (-p alone: --preserve rbugpct)
-append                      --append
-m N                         --threads N, or --spark MASTER with --tasks N
-bandwidth MB (a map)        --bandwidth MB (the whole copy)
-i                           --skip-unreadable
-f LIST                      --sources-from LIST
-filters FILE                --filters FILE, --exclude REGEX, --include REGEX
-skipcrccheck                --compare time
-diff, -rdiff                --snapshots
-atomic, -tmp DIR            --atomic, --staging DIR
-blocksperchunk N            --split-above MB
-log DIR, -v                 --log FILE
-strategy, -numListstatusThreads, -direct, -useiterator, -async: not needed
"""

_TREE, _CARE, _SPEED, _OUTPUT = "What is copied", "What is kept, compared, removed", "How it runs", "What is printed"


@app.command(epilog=_MAPPING)
def copy(
    places: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SOURCE... TARGET",
            help="hdfs://namenode:8020/path, CLUSTER:/path (clusters.yaml), file:///path, or /path on fs.defaultFS "
            "of HADOOP_CONF_DIR. The contents of one source directory become the contents of TARGET; of several "
            "sources each is put below TARGET under its own name.",
            show_default=False,
        ),
    ] = None,
    sources_from: Annotated[
        Path | None, typer.Option(help="A file with more sources, one a line.", rich_help_panel=_TREE)
    ] = None,
    include: Annotated[
        list[str] | None,
        typer.Option(
            metavar="REGEX",
            help="Copy only files whose path below the source matches as a whole.",
            rich_help_panel=_TREE,
        ),
    ] = None,
    exclude: Annotated[
        list[str] | None,
        typer.Option(help="Neither copy nor delete what matches; of a directory, nothing below it.", metavar="REGEX"),
    ] = None,
    filters: Annotated[
        Path | None, typer.Option(help="A file with more expressions to exclude, one a line.", rich_help_panel=_TREE)
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Copy also what is equal.")] = False,
    append: Annotated[bool, typer.Option("--append", help="Copy only the new bytes of files that have grown.")] = False,
    delete: Annotated[
        str, typer.Option(metavar="no|trash|permanently", help="What becomes of what the source does not have.")
    ] = "no",
    trash_days: Annotated[float, typer.Option(help="Days after which trash is deleted.")] = 7.0,
    force: Annotated[
        bool, typer.Option("--force", help="Delete even when the source is empty or could not be read in full.")
    ] = False,
    preserve: Annotated[
        str,
        typer.Option(
            "--preserve",
            "-p",
            metavar="LETTERS",
            help="r replication, b block size, u user, g group, p permission, c checksum type, a ACL, "
            "x extended attributes, t times.",
        ),
    ] = "",
    compare: Annotated[
        str,
        typer.Option(metavar="checksum|time", help="How files of equal length are compared."),
    ] = "checksum",
    recheck: Annotated[
        bool, typer.Option("--recheck", help="Compare again what an earlier copy has found equal.")
    ] = False,
    skip_unreadable: Annotated[
        bool, typer.Option("--skip-unreadable", help="Leave out, and count, what cannot be read, instead of failing.")
    ] = False,
    atomic: Annotated[
        bool, typer.Option("--atomic", help="TARGET must be new, and appears only when everything is copied.")
    ] = False,
    snapshots: Annotated[
        bool,
        typer.Option("--snapshots", help="Read from a snapshot, and look only at what changed since the last one."),
    ] = False,
    staging: Annotated[
        str | None, typer.Option(metavar="DIR", help="Where unfinished files are, on TARGET's file system.")
    ] = None,
    threads: Annotated[int, typer.Option(help="Files copied at the same time by a process.")] = 8,
    bandwidth: Annotated[
        float | None, typer.Option(metavar="MB", help="Megabytes a second, of the whole copy.")
    ] = None,
    split_above: Annotated[int, typer.Option(metavar="MB", help="Copy larger files in parts.")] = 1024,
    spark: Annotated[
        str | None, typer.Option(metavar="MASTER", help="Copy with Spark: yarn, local[4], spark://host:7077.")
    ] = None,
    tasks: Annotated[int, typer.Option(help="With --spark: tasks, each with --threads threads.")] = 4,
    spark_conf: Annotated[list[str] | None, typer.Option(metavar="KEY=VALUE", help="With --spark: a setting.")] = None,
    define: Annotated[
        list[str] | None, typer.Option("-D", metavar="KEY=VALUE", help="A Hadoop property, for both sides.")
    ] = None,
    user: Annotated[str | None, typer.Option(help="Who we are, where there is no Kerberos.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the plan, and change nothing.")] = False,
    log: Annotated[Path | None, typer.Option(help="Write the outcome, with the failures, as JSON.")] = None,
    as_json: AsJson = False,
    config: Config = None,
) -> None:
    """Make TARGET equal to SOURCE, verified by checksum.

    What is missing or different is copied. What was copied and verified before is not copied again, so a copy that
    ended early is simply repeated.
    """
    with errors_shown(as_json=as_json):
        given = {
            "mode": "overwrite" if overwrite else "update",
            "delete": delete,
            "trash_days": trash_days,
            "force": force,
            "append": append,
            "preserve": preserve,
            "include": include or (),
            "exclude": (*(exclude or ()), *(read_lines(filters) if filters else ())),
            "bandwidth_mb": bandwidth,
            "on_unreadable": "skip" if skip_unreadable else "fail",
            "atomic": atomic,
            "snapshots": snapshots,
            "recheck": recheck,
            "compare": compare,
            "threads": threads,
            "split_above": split_above * 2**20,
            "staging": staging,
        }
        sources = (*(read_lines(sources_from) if sources_from else ()), *(places or ()))
        command = CopyCommand.of(sources, given, define or (), user, config)
        # --spark-conf without --spark is refused there.
        execute = command.on_spark(spark, tasks, spark_conf or ()) if spark is not None or spark_conf else None
        if dry_run:
            command.print_plan(as_json=as_json)
        else:
            command.run(execute, log, as_json=as_json)
