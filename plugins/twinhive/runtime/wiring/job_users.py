"""As whom statements run on a cluster that has copies: whoever owns these may write into them."""

from collections.abc import Iterator
from contextlib import closing

from twinhive.core.model.errors import ActNow
from twinhive.core.model.text import Clear
from twinhive.hive.adapters.file_clients import open_files
from twinhive.runtime.settings import Configuration, Resolve
from twinhive.runtime.wiring.resolved_endpoints import file_system_endpoint, metastore_endpoint


def job_user(configuration: Configuration, cluster: str, resolve: Resolve, said: str | None = None) -> str | None:
    """Return as whom a statement runs there, None for the worker's user; `said` is who the task names.

    Raises ActNow where nobody is named, and the user of the file system owns the copies of a placement.
    """
    named = said or configuration.clusters[cluster].job_tracker.user
    if named is None and (placements := _placements_on(configuration, cluster)):
        raise ActNow(
            f"a statement on {cluster} has to say as whom it runs",
            found=f"{_said(_owner(configuration, cluster, resolve))}, who owns the copies of placement "
            f"{placements[0]}, and may write into them",
            expected="a user who only reads copies",
            next_step=f"name one as clusters.{cluster}.job_tracker.user in clusters.yaml, or as user of the operator "
            "(the owner of the copies too, if that is meant), then " + Clear("this task"),
        )
    metastore = configuration.clusters[cluster].metastore
    return named or _owner(configuration, cluster, resolve) or metastore_endpoint(metastore, resolve).user


def users_who_may_write_copies(configuration: Configuration, resolve: Resolve) -> Iterator[tuple[str, str]]:
    """Yield settings, and what is wrong with each: jobs run as the owner of copies, or as a superuser of HDFS.

    A superuser is told by the root directory, which belongs to the one that the NameNode runs as.
    """
    for cluster, settings in configuration.clusters.items():
        if not (placements := _placements_on(configuration, cluster)):
            continue
        user, owner = settings.job_tracker.user, _owner(configuration, cluster, resolve)
        what = f"clusters.{cluster}.job_tracker.user"
        if user is None:
            yield what, f"is not set: statements there have to name their user, as {_said(owner)} owns copies"
        elif user == owner:
            yield what, f"is {user}, who owns the copies of {', '.join(placements)}: jobs may write into them"
        else:
            with closing(open_files(file_system_endpoint(settings.file_system, resolve))) as files:
                root = files.status(f"{files.root}/")
            if root is not None and root.owner == user:
                yield what, f"is {user}, a superuser of {files.root}: no right keeps jobs from writing copies"


def _placements_on(configuration: Configuration, cluster: str) -> list[str]:
    entries = sorted(configuration.placements.items())
    return [name for name, entry in entries if entry.settings is not None and entry.settings.cluster == cluster]


def _owner(configuration: Configuration, cluster: str, resolve: Resolve) -> str | None:
    return file_system_endpoint(configuration.clusters[cluster].file_system, resolve).user


def _said(user: str | None) -> str:
    return user or "the user of the process"
