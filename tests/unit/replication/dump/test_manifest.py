"""What a dump says of itself: each kind has its own part, and all are written as one flat object with the same keys."""

import json
from dataclasses import replace

import pytest

from twinhive.core.model.changes.events import Position
from twinhive.core.model.objects import Database
from twinhive.replication.dump.dump_layout import DumpKind
from twinhive.replication.dump.manifest import BaseContent, DumpManifest, StatementSaid, WindowContent

KEYS = {
    *("format", "kind", "token", "policy", "fingerprint", "log_id", "begin", "end", "database", "batches", "version"),
    *("left_out", "views", "functions", "foreign_keys", "round", "batch_weight"),
    *("cascades", "events", "snapshots", "consistency", "scope", "replaces", "metadata_only"),
    *("everything", "only_new"),
}
"""An earlier version reads a dump of this one only with all of them."""
A_BASE = DumpManifest(
    kind=DumpKind.CONSOLIDATE,
    token="a1",
    policy="sales",
    fingerprint="f",
    log_id="log",
    begin=Position(3),
    end=Position(7),
    database=Database("sales", None, None, {"colour": "red"}, "{}"),
    batches=(),
    content=BaseContent(views=2, round=3),
    batch_weight=4,
)
A_CONTENT = WindowContent((5,), ("plain",), "window_end", "a1")
A_WINDOW = replace(A_BASE, kind=DumpKind.INCREMENTAL, content=A_CONTENT, events=4)
OF_A_STATEMENT = replace(A_WINDOW, statement=StatementSaid("sales", "sales.['a']", metadata_only=True, only_new=True))


@pytest.mark.parametrize("manifest", [A_BASE, A_WINDOW, OF_A_STATEMENT], ids=["base", "window", "statement"])
def test_what_is_written_is_read_and_has_the_keys_of_all_kinds(manifest: DumpManifest) -> None:
    written = manifest.to_json()
    assert DumpManifest.from_json(written, "here") == manifest
    assert json.loads(written).keys() == KEYS


def test_what_another_kind_has_is_never_asked_for() -> None:
    with pytest.raises(AssertionError, match="no window"):
        assert A_BASE.window
    with pytest.raises(AssertionError, match="not loaded"):
        assert A_WINDOW.base
