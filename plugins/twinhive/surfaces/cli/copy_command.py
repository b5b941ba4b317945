"""Run one copy that a person asked for in a terminal: find both sides, plan or carry out, print what came of it."""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer
from rich.table import Table

from twinhive.core.model.endpoints import FileSystemEndpoint
from twinhive.core.model.errors import InvalidSettings
from twinhive.core.model.next_steps import command
from twinhive.runtime.wiring.file_addresses import AddressBook, read_site
from twinhive.runtime.wiring.file_wiring import files, lease_keeper
from twinhive.surfaces.cli.copy_progress import progress_on
from twinhive.surfaces.cli.json_output import plain, print_json
from twinhive.surfaces.cli.key_value_options import pair
from twinhive.surfaces.cli.terminal import console, errors, escape, holder_of, print_stderr, say
from twinhive.transfer.tree.executing import SETTLE_SECONDS, ExecutePlan, in_this_process
from twinhive.transfer.tree.report import outcome_text
from twinhive.transfer.tree.request import SyncOptions, SyncRequest
from twinhive.transfer.tree.tree_dry_run import dry_run
from twinhive.transfer.tree.tree_sync import run_sync


@dataclass(frozen=True)
class CopyCommand:
    """One request, and the file systems that it is about."""

    request: SyncRequest
    source: FileSystemEndpoint
    target: FileSystemEndpoint

    @classmethod
    def of(
        cls,
        places: Sequence[str],
        options: Mapping[str, Any],
        properties: Iterable[str],
        user: str | None,
        config: Path | None,
    ) -> "CopyCommand":
        """Read what was typed; the last of `places` is the target. Raises InvalidSettings."""
        if len(places) < 2:
            raise InvalidSettings(
                "a copy needs a source and a target",
                found=" ".join(places) or "none",
                expected="twinhive copy SOURCE... TARGET",
                next_step=command("twinhive", "copy", "--help"),
            )
        book = _address_book(config, dict(map(pair, properties)), user)
        *sources, target = map(book.find, places)
        staging = options.get("staging")
        given = {**options, "staging": book.find(staging).uri if staging else None}
        request = SyncRequest(tuple(source.uri for source in sources), target.uri, SyncOptions.of(given))
        return cls(request, sources[0].endpoint, target.endpoint)

    def print_plan(self, *, as_json: bool = False) -> None:
        """Print what would be done as a table, or a document, and change nothing."""
        table = Table("what", "how many", "bytes", "first paths")
        rows = dry_run(self.request, files(self.source), files(self.target))
        if as_json:
            print_json({**_asked(self.request), "dry_run": True, "rows": rows})
            return
        for row in rows:
            table.add_row(*map(escape, row.cells()))
        console.print(table)
        console.print("dry run: nothing was changed")

    def on_spark(self, master: str | None, tasks: int, conf: Iterable[str]) -> ExecutePlan:
        """Return what carries out the copy on Spark's executors. Raises InvalidSettings."""
        # Imported here because most copies need no Spark, and all would wait for it.
        from twinhive.runtime.spark.cluster import SparkCluster
        from twinhive.runtime.spark.submitting import SparkCopy, by_spark

        cluster = SparkCluster.of(master, tasks, map(pair, conf))
        first, *others = self.request.sources
        title = f"copy {first}{f' and {len(others):,} more' if others else ''} to {self.request.target}"
        return by_spark(SparkCopy(cluster, self.source, self.target, title), files(self.target), print_stderr)

    def run(self, execute: ExecutePlan | None, log: Path | None, *, as_json: bool = False) -> None:
        """Carry out the copy, in this process without `execute`; raises typer.Exit with the code of failures."""
        source, target = files(self.source), files(self.target)
        with progress_on(errors) as start:
            outcome = run_sync(
                self.request,
                source,
                target,
                lease_keeper(self.target, SETTLE_SECONDS),
                execute or in_this_process(source, target, start),
                holder=holder_of("copy"),
            )
        record = plain({**_asked(self.request), "exit_code": int(outcome.exit_code), **plain(outcome)})
        if log:
            log.write_text(json.dumps(record, indent=1), encoding="utf-8")
        if as_json:
            print_json(record)
        else:
            say(*outcome_text(outcome).splitlines())
        if outcome.exit_code:
            raise typer.Exit(outcome.exit_code)


def read_lines(path: Path) -> tuple[str, ...]:
    """Return the lines of a local file; empty ones are none. Raises InvalidSettings."""
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidSettings(
            f"{path} cannot be read",
            found=error,
            expected="a file of UTF-8 text",
            next_step="correct the name or the file",
        ) from None
    return tuple(line for line in (line.removesuffix("\r") for line in lines) if line)


def _address_book(config: Path | None, properties: Mapping[str, str], user: str | None) -> AddressBook:
    """Know the clusters of clusters.yaml; there need not be one."""
    directory = config or Path(os.environ.get("TWINHIVE_CONFIG") or "dags")
    path = directory / "clusters.yaml"
    if config and not path.exists():
        raise InvalidSettings(
            f"there is no {path}",
            found="no such file",
            expected="a directory that holds clusters.yaml",
            next_step="correct --config, or leave it out",
        )
    clusters, unusable = read_clusters(path) if path.exists() else ({}, {})
    return AddressBook(clusters, read_site(), properties, user, unusable)


def read_clusters(path: Path) -> tuple[dict[str, FileSystemEndpoint], dict[str, str]]:
    """Return the file systems of clusters.yaml, and why others cannot be used."""
    # Imported here because many copies know no clusters, and all would wait for it.
    from twinhive.runtime.settings import load_clusters
    from twinhive.runtime.wiring.resolved_endpoints import file_system_endpoint
    from twinhive.surfaces.cli.connection_sources import resolver

    usable: dict[str, FileSystemEndpoint] = {}
    unusable: dict[str, str] = {}
    clusters, wrong = load_clusters(path)
    if wrong:
        raise InvalidSettings(
            wrong,
            found=path,
            expected="clusters as docs/configuration.md describes them",
            next_step=f"correct {path}, or name another directory with --config",
        )
    resolve = resolver()
    for name, cluster in clusters.items():
        try:
            usable[name] = file_system_endpoint(cluster.file_system, resolve)
        except InvalidSettings as error:
            unusable[name] = str(error)
    return usable, unusable


def _asked(request: SyncRequest) -> dict[str, Any]:
    """Return the request, as a log and a document hold it."""
    return {"sources": request.sources, "target": request.target, "options": request.options.to_document()}
