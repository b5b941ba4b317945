"""What came of copying one batch: as a file that the gate reads, as text, as an error."""

from dataclasses import asdict
from typing import Any

from twinhive import __version__
from twinhive.core.model.errors import ActNow, TryAgain
from twinhive.core.model.exit_codes import ExitCode
from twinhive.core.model.human_readable import readable
from twinhive.core.model.next_steps import RETRIES
from twinhive.core.model.text import Text
from twinhive.transfer.engine.failure_kind import FailureKind, exit_code
from twinhive.transfer.staged.copy_outcome import CopyOutcome

_LISTED_FAILURES = 100
_PRINTED_FAILURES = 5


def result_record(outcome: CopyOutcome, *, dump: str, batch: str, seconds: float) -> dict[str, Any]:
    """Return the content of a result file; at most 100 failures are listed, all are counted.

    `lost` names every table and event of which a file is lost, each once: what quarantine needs. `lost_files` counts
    the files: other failures are never taken for such ones.
    """
    lost = {(failure.table, failure.event_id) for failure in outcome.failures if failure.kind is FailureKind.LOST}
    return {
        "batch": batch,
        "dump": dump,
        "version": __version__,
        **asdict(outcome),
        "seconds": round(seconds, 1),
        "failure_count": outcome.failure_count,
        "lost_files": outcome.lost_files,
        "failures": [asdict(failure) for failure in outcome.failures[:_LISTED_FAILURES]],
        "lost": [{"table": table, "event_id": event_id} for table, event_id in sorted(lost)],
    }


def result_text(outcome: CopyOutcome, seconds: float) -> str:
    """Return the last lines of a copy's log."""
    superseded = f"{outcome.superseded_files:,} superseded, " if outcome.superseded_files else ""
    lines = [
        f"copy_files: {outcome.copied_files:,} of {outcome.files:,} files copied ({readable(outcome.copied_bytes)}), "
        f"{outcome.skipped_files:,} were staged before, {superseded}{outcome.unverified:,} compared by length only, "
        f"{outcome.failure_count:,} failed, {seconds:.0f} s"
    ]
    lines += [f"  {failure.kind}: {failure.path}: {failure.reason}" for failure in outcome.failures[:_PRINTED_FAILURES]]
    return "\n".join(lines)


def failed_copy(
    what: str, outcome: CopyOutcome, mend: Text, again: Text = RETRIES, *, lists_again: bool = False
) -> TryAgain | ActNow:
    """Return the error that names the first failures of a copy, of which there are some.

    `mend` is said where a person must act, `again` otherwise; `lists_again` is that of `exit_code`.
    """
    retry = exit_code(outcome.kinds, lists_again=lists_again) is ExitCode.TRY_AGAIN
    family = TryAgain if retry else ActNow
    return family(
        f"{what}: {outcome.failure_count} files were not copied",
        found="; ".join(f"{failure.path}: {failure.reason}" for failure in outcome.failures[:_PRINTED_FAILURES]),
        expected="a verified copy of each",
        next_step=again if retry else mend,
    )
