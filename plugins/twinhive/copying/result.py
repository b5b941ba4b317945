"""Say what came of copying one batch, as the result file that the gate reads."""

from dataclasses import asdict
from typing import Any

from twinhive import __version__
from twinhive.copying.engine import CopyOutcome

LISTED_FAILURES = 100


def result_record(outcome: CopyOutcome, *, dump: str, batch: str, seconds: float) -> dict[str, Any]:
    """Return the content of a result file; at most 100 failures are listed, all are counted."""
    return {
        "batch": batch,
        "dump": dump,
        "version": __version__,
        **asdict(outcome),
        "seconds": round(seconds, 1),
        "failure_count": len(outcome.failures),
        "failures": [asdict(failure) for failure in outcome.failures[:LISTED_FAILURES]],
    }
