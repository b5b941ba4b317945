"""Compare the versions of this package that Airflow's parts run.

A worker reads the DAG file itself, so that it never learns what the DAG processor has read. The triggerer does say its
version: with the event of the source's log that has started a run.
"""

from collections.abc import Iterator
from typing import Any

from twinhive import __version__

VERSION = "version"


def other_versions(context: Any) -> list[str]:
    """Return the versions, other than ours, of the triggerers whose events have started this run."""
    found = {version for version in _said(context) if version != __version__}
    return sorted(found)


def warning(context: Any) -> str | None:
    """Say what differs and what to do; None where nothing does."""
    others = other_versions(context)
    if not others:
        return None
    return (
        f"the triggerer runs another version of twinhive: {', '.join(others)}; this worker runs {__version__}. "
        "Deploy one version to all of Airflow's parts, and restart them"
    )


def _said(context: Any) -> Iterator[str]:
    for events in (context.get("triggering_asset_events") or {}).values():
        for event in events:
            payload = (event.extra or {}).get("payload")
            if isinstance(payload, dict) and VERSION in payload:
                yield str(payload[VERSION])
