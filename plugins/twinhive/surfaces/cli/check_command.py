"""Look at the configuration: which policies there are, and whether they can be used."""

from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from twinhive import __version__
from twinhive.core.model.errors import Foreign, InvalidSettings, TwinhiveError
from twinhive.core.model.remotes.definitions import REMOTES_FILE
from twinhive.core.model.text import render
from twinhive.runtime.settings import Configuration, PolicyEntry, PolicySettings, Resolve
from twinhive.runtime.settings.read_configuration import CLUSTERS_FILE
from twinhive.runtime.settings.remotes import load_remotes
from twinhive.surfaces.cli.command_line import configuration_of, wiring_of
from twinhive.surfaces.cli.connection_sources import remembering, resolver, troubles_of_connections, troubles_of_pools
from twinhive.surfaces.cli.exits import exit_of
from twinhive.surfaces.cli.json_output import print_json
from twinhive.surfaces.cli.terminal import AsJson, Config, console, errors_shown, escape, say, show_error

app = typer.Typer(rich_markup_mode=None)


@app.command()
def version() -> None:
    """Print the version."""
    say(__version__)


@app.command()
def policies(as_json: AsJson = False, config: Config = None) -> None:
    """List all policies, usable or not."""
    with errors_shown(as_json=as_json):
        entries = sorted(configuration_of(config).policies.values(), key=lambda entry: entry.name)
    if as_json:
        print_json({"policies": [_fields(entry) for entry in entries]})
        return
    table = Table("policy", "source", "replica", "file", "state")
    for entry in entries:
        state = f"[red]{escape(entry.error)}[/]" if entry.error else "[green]usable[/]"
        table.add_row(entry.name, *_sides(entry), escape(entry.path.name), state)
    console.print(table)


def _sides(entry: PolicyEntry) -> tuple[str, str]:
    if entry.settings is None:
        return "", ""
    source, replica = entry.settings.source, entry.settings.replica
    return f"{source.cluster}/{source.database}", f"{replica.cluster}/{replica.database}"


def _fields(entry: PolicyEntry) -> dict[str, Any]:
    source, replica = _sides(entry)
    return {
        "policy": entry.name,
        "source": source or None,
        "replica": replica or None,
        "file": str(entry.path),
        "usable": entry.error is None,
        "trouble": entry.error,
    }


@app.command()
def check(
    policy: Annotated[
        str | None, typer.Argument(metavar="POLICY", help="One policy or placement; without it, all")
    ] = None,
    servers: Annotated[
        bool,
        typer.Option(
            "--servers",
            help="Ask the servers of both clusters too, as a bootstrap does before it starts, and say who we are to "
            "their metastores; changes nothing.",
        ),
    ] = False,
    failover: Annotated[
        bool,
        typer.Option(
            "--failover",
            help="Say whether the replica could take over from its source now, and what would not come along; changes "
            "nothing.",
        ),
    ] = False,
    as_json: AsJson = False,
    config: Config = None,
) -> None:
    """Validate the configuration.

    No server is touched unless told to. The connections that this terminal knows are read; `twinhive --airflow check`
    reads Airflow's, and looks whether it has the pools that policies name. Every policy and every placement is checked,
    whatever is wrong with others, and without POLICY clusters.yaml and remotes.yaml too. The exit code is that of the
    worst.
    """
    if failover and policy is None:
        raise typer.BadParameter("--failover is about one policy: name it")
    with errors_shown(as_json=as_json):
        configuration = configuration_of(config)
        check = _Check(config, configuration, remembering(resolver()), servers=servers, failover=failover)
        every = sorted({*configuration.policies, *configuration.placements})
        entries = [configuration.replicated(name) for name in ([policy] if policy else every)]
    files = [] if policy else [*_files(configuration)]
    found: list[_Found] = []
    for entry in entries:
        found.append(check.of(entry))
        if not as_json:
            _show(found[-1], servers=servers, failover=failover)
    of_files = [problem for one in files for problem in one.problems]
    code = exit_of(*of_files, *(problem for one in found for problem in one.problems))
    if as_json:
        print_json({"files": files, "policies": found, "exit_code": code})
    else:
        _show_the_rest(of_files, configuration, len(entries), code)
    if code:
        raise typer.Exit(code)


@dataclass(frozen=True)
class _File:
    """What is wrong with a file that is no policy's or placement's own."""

    file: str
    problems: list[TwinhiveError]


def _files(configuration: Configuration) -> Iterator[_File]:
    """Look at the files that are everybody's, and whether there is anything that they are for."""
    directory = configuration.directory
    clusters, remotes = directory / CLUSTERS_FILE, directory / REMOTES_FILE
    wrong = False
    for path, look in ((clusters, configuration.refuse_wrong_clusters), (remotes, partial(load_remotes, remotes))):
        problems = _problems(look)
        wrong = wrong or bool(problems)
        yield _File(path.name, problems)
    if not wrong and not remotes.exists() and not _is_used(configuration):
        yield _File("policies", [_nothing(directory)])


def _problems(look: Callable[[], object]) -> list[TwinhiveError]:
    try:
        look()
    except TwinhiveError as error:
        return [error]
    return []


def _is_used(configuration: Configuration) -> bool:
    """True where there is something to replicate, to tell, or to serve."""
    clusters = configuration.clusters.values()
    served = any(one.messages.broker is not None or one.gateway.port is not None for one in clusters)
    return served or bool(configuration.policies or configuration.placements)


def _nothing(directory: Path) -> InvalidSettings:
    return InvalidSettings(
        f"{directory} says nothing that is to be done",
        found="no policy file, no placement file, no remotes.yaml, and no cluster with a broker or a gateway's port",
        expected="policies/*.yaml, or one of these",
        next_step="write a policy (docs/configuration.md), or name another directory with --config",
    )


@dataclass(frozen=True)
class _Found:
    """What is wrong with a policy, and what its servers say who we are."""

    policy: str
    problems: list[TwinhiveError]
    servers: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Check:
    """How far is looked: at files and connections, at servers, at whether a replica could take over."""

    config: Path | None
    configuration: Configuration
    resolve: Resolve
    _: KW_ONLY
    servers: bool
    failover: bool

    def of(self, entry: PolicyEntry) -> _Found:
        """Look at a policy: no part that fails hides what another one has found. Raises nothing."""
        try:
            settings = entry.usable()
        except TwinhiveError as error:
            return _Found(entry.name, [error])
        parts = [
            _part(entry.name, partial(self._connections, entry.name, settings)),
            _part(entry.name, partial(self._pools, entry.name, settings)),
        ]
        parts += [_part(entry.name, partial(self._servers, entry))] if self.servers else []
        parts += [_part(entry.name, partial(_ask_whether_ready, self.config, entry.name))] if self.failover else []
        # One that keeps several parts from their answers is said once.
        problems = {str(problem): problem for part in parts for problem in part.problems}
        return _Found(entry.name, list(problems.values()), [line for part in parts for line in part.servers])

    def _connections(self, policy: str, settings: PolicySettings) -> _Found:
        return _Found(policy, troubles_of_connections(self.configuration, settings, self.resolve))

    def _servers(self, entry: PolicyEntry) -> _Found:
        """Ask as a bootstrap does. Of the opposite direction the database is nobody's replica until a failover."""
        found = _ask_servers(self.config, entry.name)
        problems = [one for one in found.problems if not (entry.reverse_of and isinstance(one, Foreign))]
        if len(problems) == len(found.problems):
            return found
        asleep = f"it replicates nothing until {entry.reverse_of} has failed over"
        return _Found(entry.name, problems, [*found.servers, asleep])

    def _pools(self, policy: str, settings: PolicySettings) -> _Found:
        return _Found(policy, troubles_of_pools(policy, settings))


def _part(policy: str, look: Callable[[], _Found]) -> _Found:
    """Return what a part of a check finds, or what keeps it from its answer."""
    try:
        return look()
    except TwinhiveError as error:
        return _Found(policy, [error])


def _ask_servers(config: Path | None, policy: str) -> _Found:
    # Imported here because a mere check of files would wait for them.
    from twinhive.core.step.step_base import Work
    from twinhive.federation.placement.list_copies import placement_problems
    from twinhive.replication.bootstrap.preflight import Preflight

    wiring = wiring_of(config, policy, or_placement=True)
    if wiring.policy.copies is not None:
        return _Found(policy, list(placement_problems(wiring.write_ports(), wiring.policy)))
    said: list[str] = []
    work = Work(wiring.policy, report=lambda line: said.append(render(line)))
    return _Found(policy, Preflight(work).problems(wiring.write_ports()), said)


def _ask_whether_ready(config: Path | None, policy: str) -> _Found:
    from twinhive.operations.failover.readiness import readiness

    wiring = wiring_of(config, policy)
    found = readiness(wiring.write_ports(), wiring.policy)
    return _Found(policy, list(found.problems), [render(line) for line in found.told])


def _show_the_rest(problems: list[TwinhiveError], configuration: Configuration, entries: int, code: int) -> None:
    for problem in problems:
        show_error(problem)
    if not code:
        what = "policies and placements" if configuration.placements else "policies"
        say(f"{entries} {what} can be used")


def _show(found: _Found, *, servers: bool, failover: bool) -> None:
    for line in found.servers:
        say(f"{found.policy}: {line}")
    for problem in found.problems:
        show_error(problem, found.policy)
    if servers and not found.problems:
        say(f"{found.policy}: both clusters are as a bootstrap needs them")
    if failover and not found.problems:
        say(f"{found.policy}: the replica could take over")
