"""What a copy of listed files works from, in this process or by Spark."""

from dataclasses import dataclass


@dataclass(frozen=True)
class CopyJob:
    """What a copy works from and where it leaves its result; all are URIs.

    Events up to `after_event` are on the replica: their files are not copied again. With
    `superseded_ok` a listed file that is gone or changed is no failure: the next round judges it. `batch_weight` is
    what such a batch was to weigh at most, 0 for unknown.
    """

    listing: str
    staging: str
    result: str
    label: str
    files: int
    bytes: int
    superseded_ok: bool = False
    after_event: int = 0
    batch_weight: int = 0
