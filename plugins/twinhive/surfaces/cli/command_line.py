"""Find what a command line names: a configuration, and a policy in it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from twinhive.core.model.errors import ActNow, InvalidSettings
from twinhive.core.model.next_steps import command
from twinhive.runtime.settings import Configuration, default_directory, load_configuration
from twinhive.surfaces.cli.connection_sources import resolver

if TYPE_CHECKING:
    from twinhive.runtime.wiring.policy_wiring import Wiring

PolicyArgument = Annotated[
    str, typer.Argument(metavar="POLICY", help="Name of a policy, or of a placement; list them with: twinhive policies")
]


def configuration_of(config: Path | None) -> Configuration:
    """Load the configuration. Raises ActNow without a directory."""
    directory = config or default_directory()
    if not directory.is_dir():
        raise ActNow(
            f"there is no configuration directory {directory}",
            found="nothing" if not directory.exists() else "a file",
            expected="a directory with clusters.yaml and policies/",
            next_step="name it with --config, or set TWINHIVE_CONFIG",
        )
    return load_configuration(directory)


def wiring_of(config: Path | None, policy: str, *, or_placement: bool = False) -> "Wiring":
    """Find a policy, or a placement where that will do. Raises InvalidSettings with all that is wrong with its file."""
    # Imported here because a mere check of files needs no adapters, and would wait for them.
    from twinhive.runtime.wiring.policy_wiring import Wiring

    configuration = configuration_of(config)
    if policy in configuration.placements and not or_placement:
        raise InvalidSettings(
            f"{policy} is a placement: this command is about policies",
            found=configuration.placements[policy].path,
            expected="a policy",
            next_step="see its copies with: " + command("twinhive", "copies", policy),
        )
    return Wiring.of(configuration, policy, resolver())


def local_cluster(configuration: Configuration, cluster: str | None) -> str:
    """Return the cluster of the local metastore: the named one, or the only one. Raises InvalidSettings."""
    there = sorted(configuration.clusters)
    if cluster in there:
        return cluster
    if cluster is None and len(there) == 1:
        return there[0]
    configuration.refuse_wrong_clusters()
    raise InvalidSettings(
        "whose metastore is the local one is not known" if cluster is None else f"there is no cluster {cluster}",
        found=f"clusters.yaml has {', '.join(there) or 'none'}",
        expected="the name of one of them",
        next_step="name it with --cluster",
    )
