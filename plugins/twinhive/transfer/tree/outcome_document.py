"""Write what came of a plan's actions as plain JSON values, for whoever waits for a job that carries them out."""

import sys
from array import array
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from twinhive.transfer.engine.failure_kind import CopyFailure, FailureKind
from twinhive.transfer.tree.failures import Failures
from twinhive.transfer.tree.file_actions import Compared
from twinhive.transfer.tree.tally import Tally
from twinhive.transfer.tree.tree_outcome import ExecOutcome


def to_document(outcome: ExecOutcome) -> dict[str, Any]:
    """Return an outcome as JSON values; `verified` are its digests, eight bytes each, in base64."""
    failures = outcome.failures
    return {
        "copied": asdict(outcome.copied),
        "skipped": asdict(outcome.skipped),
        "attributes": asdict(outcome.attributes),
        "compared": {how.value: count for how, count in outcome.compared.items()},
        "failures": {
            "tally": asdict(failures.tally),
            "kinds": {kind.value: count for kind, count in failures.kinds.items()},
            "unreadable": asdict(failures.unreadable),
            "examples": [asdict(example) for example in failures.examples],
            "held": sorted(failures.held),
            "holds_all": failures.holds_all,
            "vanished": asdict(failures.vanished),
            "differing": failures.differing,
        },
        "verified": b64encode(_little_endian(outcome.verified).tobytes()).decode("ascii"),
    }


def from_document(document: dict[str, Any]) -> ExecOutcome:
    """Read what `to_document` returned. Raises KeyError, TypeError or ValueError when it is something else."""
    verified = array("Q", b64decode(document["verified"], validate=True))
    return ExecOutcome(
        copied=Tally(**document["copied"]),
        skipped=Tally(**document["skipped"]),
        attributes=Tally(**document["attributes"]),
        compared=Counter({Compared(how): count for how, count in document["compared"].items()}),
        failures=_failures(**document["failures"]),
        verified=_little_endian(verified),
    )


def _failures(
    tally: dict[str, int],
    kinds: dict[str, int],
    unreadable: dict[str, int],
    examples: list[dict[str, Any]],
    held: list[str],
    holds_all: bool,
    vanished: dict[str, int],
    differing: Sequence[str] = (),
) -> Failures:
    return Failures(
        Tally(**tally),
        Counter({FailureKind(kind): count for kind, count in kinds.items()}),
        Tally(**unreadable),
        [CopyFailure(**{**example, "kind": FailureKind(example["kind"])}) for example in examples],
        set(held),
        holds_all,
        Tally(**vanished),
        list(differing),
    )


def _little_endian(digests: "array[int]") -> "array[int]":
    if sys.byteorder == "big":
        digests = digests[:]
        digests.byteswap()
    return digests
