"""Write, publish and remove the dumps of a policy."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from twinhive.core.model.errors import ActNow, Missing, TryAgain
from twinhive.core.model.policy import Policy
from twinhive.core.model.text import Again, Text
from twinhive.core.ports import FileReader, FileWriter
from twinhive.replication.dump.dump_layout import BASE_KINDS, KINDS_OF_DUMPS, DumpLayout, as_passes_know
from twinhive.replication.dump.dump_ownership import claim_dumps, discard_dump, own_dumps_of
from twinhive.replication.dump.dump_store import Dump, found_in, open_dump
from twinhive.replication.dump.manifest import DumpManifest


def begin_attempt(files: FileWriter, policy: Policy, token: str) -> DumpLayout:
    """Return a new directory to write a dump into. Raises Foreign when that for the policy's dumps is not ours.

    Raises TryAgain when another run, which was started at the same time, has removed it meanwhile.
    """
    claim_dumps(files, policy)
    attempt = DumpLayout.attempt(policy.dumps, token)
    try:
        files.write(attempt.begun, b"")
    except Missing as error:
        raise _removed(attempt, error) from error
    return attempt


@contextmanager
def being_written(files: FileWriter, attempt: DumpLayout) -> Iterator[None]:
    """Write an attempt inside. Raises TryAgain for whatever fails because another run has removed it meanwhile."""
    try:
        yield
    except ActNow as error:
        if files.status(attempt.begun) is not None:
            raise
        discard_dump(files, attempt.directory)
        raise _removed(attempt, error) from error


def _removed(attempt: DumpLayout, error: ActNow) -> TryAgain:
    what = f"the dump that was being written in {attempt.directory} is gone: another run has removed it"
    return _taken_away(what, error.what)


def _taken_away(what: str, found: Text) -> TryAgain:
    return TryAgain(
        what,
        found=found,
        expected="a dump that only the run which began it writes or removes",
        next_step="nothing, when that run has gone on; else " + Again(),
    )


def publish_dump(files: FileWriter, attempt: DumpLayout, layout: DumpLayout, manifest: DumpManifest) -> Dump:
    """Write the manifest and give a finished attempt its name. Raises TryAgain when another run has removed it."""
    with being_written(files, attempt):
        files.write(attempt.manifest, manifest.to_json())
    if not files.delete_file(attempt.begun):
        discard_dump(files, attempt.directory)
        what = f"the dump {layout.directory} is not published: another run has removed parts of it"
        raise _taken_away(what, f"no {attempt.begun}")
    discard_dump(files, layout.directory)
    if not files.rename(attempt.directory, layout.directory):
        raise TryAgain(
            f"the dump {layout.directory} appeared while another one was being written",
            found=f"{layout.directory}, and {attempt.directory}",
            expected="one run that writes it",
            next_step=Again() + "; another run of it seems to be active",
        )
    return Dump(layout, manifest)


def finish_publishing(files: FileWriter, policy: Policy) -> None:
    """Give finished dumps their names whose writers were killed just before: an earlier one may be gone already."""
    for attempt in attempts_of(files, policy):
        if files.status(attempt.manifest) is None or files.status(attempt.begun) is not None:
            continue
        manifest = open_dump(files, attempt).manifest
        if manifest.kind not in BASE_KINDS:
            continue
        layout = DumpLayout.of(policy.dumps, manifest.kind, manifest.begin.event_id, manifest.end.event_id)
        files.rename(attempt.directory, layout.directory)


def attempts_of(files: FileReader, policy: Policy) -> list[DumpLayout]:
    """Return the dumps that are being written, or were cut off."""
    return [layout for layout in found_in(files, policy.dumps) if layout.is_attempt]


def remove_other_dumps(files: FileWriter, policy: Policy, keep: DumpLayout) -> list[str]:
    """Remove the policy's older dumps, but no passes, and all attempts; return what was removed.

    One run of a policy is active at a time, so whatever is not `keep` is an orphan.
    """
    found = (one for one in found_in(files, policy.dumps) if one.name != keep.name)
    orphans = [one.directory for one in found if one.kind in KINDS_OF_DUMPS or one.is_attempt]
    return [directory for directory in orphans if discard_dump(files, directory)]


def remove_passes(files: FileWriter, policy: Policy, passes: Sequence[DumpLayout]) -> None:
    """Remove just these passes: one that another run has begun since they were found is none of them."""
    owned = own_dumps_of(files, as_passes_know(policy)) if passes else None
    if owned is not None:
        for layout in passes:
            owned.discard(layout.directory)
