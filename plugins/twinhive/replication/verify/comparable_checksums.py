"""Let checksums of two sides say something of each other: where their types differ, the bytes of the files are read.

A file of CRC32 and one of CRC32C have other checksums whatever they hold, and what was not compared is not equal. What
stands for the bytes is remembered in the place of the checksums, on both sides: they are not read another night.
"""

from collections.abc import Sequence
from dataclasses import replace

from twinhive.core.model.errors import Missing
from twinhive.core.ports.same_content import are_guarded_alike
from twinhive.replication.comparison.leaf_reader import OF_BYTES, LeafState, Side


def with_comparable_checksums(
    sides: tuple[Side, Side], here: LeafState, there: LeafState
) -> tuple[LeafState, LeafState]:
    """Return both states, with what stands for the bytes of files that have other checksums of other types.

    A file that is gone since keeps what it had: its leaf differs, and is looked at again.
    """
    ours, theirs = here.checksums, there.checksums
    if ours is None or theirs is None or here.lengths != there.lengths:
        return here, there
    apart = [name for name, value in ours.items() if theirs.get(name, value) != value]
    unlike = [name for name in apart if not _says_something(sides, here, there, name)]
    of_ours, of_theirs = (_digests(side, state, unlike) for side, state in zip(sides, (here, there), strict=True))
    known = of_ours.keys() & of_theirs.keys()
    return (
        replace(here, checksums={**ours, **{name: of_ours[name] for name in known}}),
        replace(there, checksums={**theirs, **{name: of_theirs[name] for name in known}}),
    )


def has_bytes_read(state: LeafState) -> bool:
    """True for a leaf of which the bytes of a file were read."""
    return any(value.startswith(OF_BYTES) for value in (state.checksums or {}).values())


def _says_something(sides: tuple[Side, Side], here: LeafState, there: LeafState, name: str) -> bool:
    """True for a file whose other checksums mean other bytes; also for one that is gone."""
    if all(state.checksums and state.checksums[name].startswith(OF_BYTES) for state in (here, there)):
        return True
    source, replica = sides
    try:
        return are_guarded_alike(source.files, here.files[name].path, replica.files, there.files[name].path)
    except Missing:
        return True


def _digests(side: Side, state: LeafState, names: Sequence[str]) -> dict[str, str]:
    found = side.digests([state.files[name].path for name in names])
    return {name: value for name in names if (value := found[state.files[name].path]) is not None}
