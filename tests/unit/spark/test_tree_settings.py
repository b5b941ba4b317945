"""What the submitter knows is what the job knows."""

import json
from dataclasses import replace
from typing import Any

import pytest

from twinhive.model.endpoints import FileSystemEndpoint
from twinhive.spark.tree_settings import TreeJobSettings
from twinhive.transfer.engine.attributes import Newborn
from twinhive.transfer.staged.job import Unusable, parsed
from twinhive.transfer.tree.batches import FileBatch
from twinhive.transfer.tree.executing import TreeCopyJob
from twinhive.transfer.tree.places import Places
from twinhive.transfer.tree.request import SyncOptions

OPTIONS = SyncOptions.of(
    {"preserve": "ugat", "delete": "trash", "exclude": ["a/.*"], "bandwidth_mb": 30.0, "threads": 5, "append": True}
)
SETTINGS = TreeJobSettings(
    "copy hdfs://east/a to hdfs://west/b",
    FileSystemEndpoint("hdfs://east", {"fs.secret": "é"}, None),
    FileSystemEndpoint("hdfs://west", {}, "etl"),
    TreeCopyJob(Places("hdfs://west/b", False, "hdfs://west/tmp"), OPTIONS, Newborn("etl", "staff", 0o755)),
    (FileBatch("hdfs://west/b/plan/0", 1000, 3_000_000_000), FileBatch("hdfs://west/b/plan/1", 234, 0)),
    tasks=4,
)


def test_settings_are_the_same_after_they_were_written_and_read() -> None:
    assert parsed(SETTINGS.to_json(), TreeJobSettings.of) == SETTINGS


def test_the_label_says_what_is_copied_and_how_much() -> None:
    assert SETTINGS.label == "copy hdfs://east/a to hdfs://west/b: 1,234 files, 3.0 GB"


@pytest.mark.parametrize(("tasks", "batches", "rate"), [(4, 2, 15e6), (2, 9, 15e6), (1, 9, 30e6), (3, 3, 10e6)])
def test_the_bandwidth_is_shared_by_what_runs_at_once(tasks: int, batches: int, rate: float) -> None:
    settings = replace(SETTINGS, tasks=tasks, batches=(SETTINGS.batches[0],) * batches)
    assert settings.bytes_per_second == rate


def test_no_limit_of_bandwidth_stays_none() -> None:
    job = replace(SETTINGS.job, options=SyncOptions())
    assert replace(SETTINGS, job=job).bytes_per_second is None


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"version": "0.0.1"}, "the submitter is twinhive 0.0.1"),
        ({"options": {"threads": 0}}, "threads must be above zero"),
        ({"options": {"surprise": 0}}, "surprise"),
        ({"places": {"base": "hdfs://west/b"}}, "is_new"),
        ({"source": None}, "FileSystemEndpoint"),
        ({"batches": [["only a path"]]}, "FileBatch"),
    ],
)
def test_settings_that_cannot_be_used(change: dict[str, Any], said: str) -> None:
    text = json.dumps({**json.loads(SETTINGS.to_json()), **change})
    with pytest.raises(Unusable, match=r"cannot be used|submitter") as caught:
        parsed(text, TreeJobSettings.of)
    assert said in str(caught.value)


def test_text_that_is_no_json() -> None:
    with pytest.raises(Unusable, match="cannot be used"):
        parsed("{", TreeJobSettings.of)
