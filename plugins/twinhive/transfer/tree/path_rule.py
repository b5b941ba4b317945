"""Where each source is put.

The path rule: the contents of one source directory become the contents of TARGET, whether TARGET exists or not. One
source file becomes TARGET/name where TARGET is a directory, and TARGET itself where it is not. Several sources are put
below TARGET, each under its own name. (DistCp puts one directory below TARGET when that exists, and merges several
with `-update`: the same command does different things from one run to the next.)
"""

from dataclasses import dataclass, replace
from typing import Protocol

from twinhive.core.model.errors import AlreadyThere, InvalidSettings, Missing, Refused
from twinhive.core.model.files import RENAMING, FileStatus, authority, base_name, is_below, join, parent
from twinhive.transfer.tree.overlap_check import check_apart
from twinhive.transfer.tree.request import SyncRequest
from twinhive.transfer.tree.work_directories import Places, is_ours

SNAPSHOTS = ".snapshot"


@dataclass(frozen=True)
class Root:
    """One source as it was found, and its place below the base, '' for the base itself; `target`: what is there."""

    source: FileStatus
    relative: str
    target: FileStatus | None

    def read_from(self, path: str) -> "Root":
        """Return the same root, its source read from another path: one of its snapshots."""
        return replace(self, source=replace(self.source, path=path))


@dataclass(frozen=True)
class Layout:
    """Where everything goes. The roots lie below the base, none of them in another."""

    places: Places
    roots: tuple[Root, ...]

    @property
    def memory(self) -> str:
        """Where it is kept which copies of these sources are known to be equal."""
        return self.places.verified(tuple(root.source.path for root in self.roots))


class Statuses(Protocol):
    """Say what is at the paths of one file system."""

    @property
    def root(self) -> str:
        """Scheme and authority."""
        ...

    def status(self, path: str) -> FileStatus | None:
        """Return the status of a path, or None when it does not exist."""
        ...


def lay_out(request: SyncRequest, source: Statuses, target: Statuses) -> Layout:
    """Apply the path rule. Raises InvalidSettings, Missing, Refused, AlreadyThere; nothing is changed."""
    sources = tuple(map(_tidy, request.sources))
    goal = _tidy(request.target)
    staging = _tidy(request.options.staging) if request.options.staging else None
    _check_addresses(sources, goal, source.root, target.root)
    _check_staging(staging, sources, goal)
    found = [_existing(source, path) for path in sources]
    there = target.status(goal)
    _check_kind(goal, there, found)
    if len(found) == 1 and (found[0].is_directory or there is None or not there.is_directory):
        layout = _as_the_target(found[0], goal, there, target, staging)
    else:
        roots = [_below(goal, original, there, target) for original in found]
        layout = Layout(Places(goal, there is None, staging), tuple(roots))
    layout = _alone(layout)
    places = {join(layout.places.base, root.relative): root for root in layout.roots}
    check_apart({place: root.source.path for place, root in places.items()})
    for place, root in places.items():
        _check_place(root, place)
    if request.options.atomic:
        _check_atomic(layout, goal)
    return layout


def _as_the_target(
    original: FileStatus, goal: str, there: FileStatus | None, target: Statuses, staging: str | None
) -> Layout:
    """A directory is the base, a file is in it."""
    if original.is_directory:
        return Layout(Places(goal, there is None, staging), (Root(original, "", there),))
    base = parent(goal)
    is_new = there is None and target.status(base) is None
    return Layout(Places(base, is_new, staging), (Root(original, base_name(goal), there),))


def _alone(layout: Layout) -> Layout:
    """Let a single file have places of its own in a directory that exists: others copy into it at the same time."""
    first, *others = layout.roots
    if others or first.source.is_directory or layout.places.is_new:
        return layout
    return replace(layout, places=replace(layout.places, only=first.relative))


def _below(goal: str, original: FileStatus, there: FileStatus | None, target: Statuses) -> Root:
    name = base_name(original.path)
    return Root(original, name, target.status(join(goal, name)) if there else None)


def _tidy(path: str) -> str:
    """Return a URI without a slash at its end, unless it is the root of a file system."""
    short = path.rstrip("/")
    return short if short.count("/") > 2 else f"{authority(path)}/"


def _check_addresses(sources: tuple[str, ...], goal: str, source_root: str, target_root: str) -> None:
    if not sources:
        raise InvalidSettings(
            "there is nothing to copy",
            found="no source",
            expected="at least one source",
            next_step="name a source before the target",
        )
    for path, root in [*((path, source_root) for path in sources), (goal, target_root)]:
        if authority(path) != root:
            raise InvalidSettings(
                f"{path} is on another file system",
                found=authority(path),
                expected=root,
                next_step="copy the sources of each file system by a run of its own",
            )
    names = [base_name(path) for path in sources]
    if len(names) > 1:
        _check_names(sources, names)
    if any(is_ours(part) or part == SNAPSHOTS for part in goal.split("/")):
        raise InvalidSettings(
            f"{goal} is no place for a copy",
            found="a directory of snapshots, or of our own",
            expected="a directory of yours",
            next_step="choose another target",
        )
    scheme = goal.partition("://")[0]
    if scheme not in RENAMING:
        raise Refused(
            f"{goal}: a copy is put in place by renaming, which {scheme} cannot do in one step",
            found=scheme,
            expected=", ".join(sorted(RENAMING)),
            next_step="copy to a file system that can",
        )


def _check_names(sources: tuple[str, ...], names: list[str]) -> None:
    for path, name in zip(sources, names, strict=True):
        if not name or is_ours(name):
            raise InvalidSettings(
                f"{path} has no name that it could have below the target",
                found="the root of a file system, or a directory of our own",
                expected="sources with names, when there are several",
                next_step="copy it alone",
            )
        same = [other for other, its in zip(sources, names, strict=True) if its == name]
        if len(same) > 1:
            raise InvalidSettings(
                f"{len(same)} sources would have the name {name} below the target",
                found=", ".join(same),
                expected="a name of its own for each",
                next_step="copy them to targets of their own",
            )


def _check_staging(staging: str | None, sources: tuple[str, ...], goal: str) -> None:
    if staging is None:
        return
    if authority(staging) != authority(goal):
        raise InvalidSettings(
            f"staging {staging} is not on the target's file system, so nothing can be renamed from there",
            found=authority(staging),
            expected=authority(goal),
            next_step="choose a directory there, or leave staging out",
        )
    for tree in (*sources, goal):
        if staging == tree or is_below(staging, tree):
            raise InvalidSettings(
                f"staging {staging} lies in {tree}: unfinished work would be taken for content",
                found=staging,
                expected="a directory apart from sources and target",
                next_step="choose another directory, or leave staging out",
            )


def _existing(source: Statuses, path: str) -> FileStatus:
    found = source.status(path)
    if found is None:
        is_glob = any(character in path for character in "*?[{")
        raise Missing(
            f"{path}: the source does not exist",
            found="nothing of exactly this name: patterns are not looked at" if is_glob else "nothing",
            expected="a file or a directory",
            next_step="name each source, or list them in a file (--sources-from)" if is_glob else "correct the address",
        )
    if found.is_link:
        raise Refused(
            f"{path}: the source is a symbolic link",
            found="a symbolic link",
            expected="a file or a directory",
            next_step="copy what it points to",
        )
    return found


def _check_kind(goal: str, there: FileStatus | None, found: list[FileStatus]) -> None:
    if there is not None and there.is_link:
        raise Refused(
            f"{goal}: the target is a symbolic link",
            found="a symbolic link",
            expected="a file, a directory, or nothing",
            next_step="name what it points to",
        )
    needs_directory = len(found) > 1 or found[0].is_directory
    if there is not None and not there.is_directory and needs_directory:
        what = f"{len(found)} sources" if len(found) > 1 else f"the directory {found[0].path}"
        raise AlreadyThere(
            f"{goal}: {what} cannot be put there",
            found="a file",
            expected="a directory, or nothing",
            next_step="choose another target, or move the file away",
        )


def _check_place(root: Root, place: str) -> None:
    if root.target is not None and root.target.is_directory != root.source.is_directory:
        raise AlreadyThere(
            f"{place}: {root.source.path} cannot be put there",
            found=_kind(root.target),
            expected=f"{_kind(root.source)}, or nothing",
            next_step="choose another target, or move away what is there",
        )


def _check_atomic(layout: Layout, goal: str) -> None:
    if layout.places.is_new or (len(layout.roots) == 1 and layout.roots[0].target is None):
        return
    raise AlreadyThere(
        f"{goal}: an atomic copy has to make its target, which exists",
        found="a file or a directory there",
        expected="nothing at the target",
        next_step="choose a new target, or leave atomic out: each file is replaced by one rename then",
    )


def _kind(status: FileStatus) -> str:
    return "a directory" if status.is_directory else "a file"
