"""What the submitter knows is what the job knows."""

import json
from dataclasses import replace
from typing import Any

import pytest

from twinhive.core.model.endpoints import FileSystemEndpoint
from twinhive.core.model.exit_codes import Unusable
from twinhive.runtime.spark.cluster import SparkCluster
from twinhive.runtime.spark.copy_settings import CopySettings, ListedCopy, TreeCopy
from twinhive.runtime.spark.submitting import SparkCopy, settings_of
from twinhive.transfer.engine.attributes import Newborn
from twinhive.transfer.staged.job import CopyJob
from twinhive.transfer.tree.executing import TreeCopyJob
from twinhive.transfer.tree.request import SyncOptions
from twinhive.transfer.tree.tree_batches import FileBatch
from twinhive.transfer.tree.work_directories import Places

OPTIONS = SyncOptions.of(
    {"preserve": "ugat", "delete": "trash", "exclude": ["a/.*"], "bandwidth_mb": 30.0, "threads": 5, "append": True}
)
EAST = FileSystemEndpoint("hdfs://east", {"fs.secret": "é"}, None)
WEST = FileSystemEndpoint("hdfs://west", {}, "etl")
COPY = SparkCopy(SparkCluster("yarn", 4, {}), EAST, WEST, "copy hdfs://east/a to hdfs://west/b")
JOB = TreeCopyJob(Places("hdfs://west/b", False, "hdfs://west/tmp"), OPTIONS, Newborn("etl", "staff", 0o755))
BATCHES = (FileBatch("hdfs://west/b/plan/0", 1000, 3_000_000_000), FileBatch("hdfs://west/b/plan/1", 234, 0))
TREE = settings_of(COPY, JOB, BATCHES)
LISTED = CopySettings(
    EAST,
    WEST,
    ListedCopy(
        CopyJob("hdfs://east/l", "hdfs://west/s", "hdfs://east/r", "sales.orders +1 tables", 3, 100, after_event=7),
        EAST,
        "d1",
        "b1",
        lost_ok=True,
        permissions="source",
    ),
    bytes_per_second=2e6,
)


@pytest.mark.parametrize("settings", [LISTED, TREE], ids=["listed", "tree"])
def test_settings_are_the_same_after_they_were_written_and_read(settings: CopySettings) -> None:
    assert CopySettings.parse(settings.to_json()) == settings


def test_the_label_says_what_is_copied_and_of_a_tree_how_much() -> None:
    assert TREE.what.label == "copy hdfs://east/a to hdfs://west/b: 1,234 files, 3.0 GB"
    assert LISTED.what.label == "sales.orders +1 tables"


@pytest.mark.parametrize(("tasks", "batches", "rate"), [(4, 2, 15e6), (2, 9, 15e6), (1, 9, 30e6), (3, 3, 10e6)])
def test_the_bandwidth_is_shared_by_what_runs_at_once(tasks: int, batches: int, rate: float) -> None:
    settings = settings_of(replace(COPY, cluster=SparkCluster("yarn", tasks, {})), JOB, (BATCHES[0],) * batches)
    assert settings.bytes_per_second == rate
    assert (settings.threads, settings.tasks) == (5, tasks)


def test_no_limit_of_bandwidth_stays_none() -> None:
    assert settings_of(COPY, replace(JOB, options=SyncOptions()), BATCHES).bytes_per_second is None


@pytest.mark.parametrize(
    ("where", "change", "said"),
    [
        ((), {"version": "0.0.1"}, "the submitter is twinhive 0.0.1"),
        ((), {"kind": "what nobody knows"}, "what nobody knows"),
        ((), {"kind": "ListedCopy"}, "cannot be used"),
        ((), {"source": None}, "FileSystemEndpoint"),
        (("what", "job"), {"options": {"threads": 0}}, "threads must be above zero"),
        (("what", "job"), {"options": {"surprise": 0}}, "surprise"),
        (("what", "job"), {"places": {"base": "hdfs://west/b"}}, "is_new"),
        (("what",), {"batches": [{"path": "only a path"}]}, "FileBatch"),
    ],
)
def test_settings_that_cannot_be_used(where: tuple[str, ...], change: dict[str, Any], said: str) -> None:
    document = changed = json.loads(TREE.to_json())
    for name in where:
        changed = changed[name]
    changed.update(change)
    with pytest.raises(Unusable, match=r"cannot be used|submitter") as caught:
        CopySettings.parse(json.dumps(document))
    assert said in str(caught.value)


def test_text_that_is_no_json() -> None:
    with pytest.raises(Unusable, match="cannot be used"):
        CopySettings.parse("{")


def test_each_kind_is_read_as_what_it_is() -> None:
    kinds = {type(CopySettings.parse(one.to_json()).what) for one in (LISTED, TREE)}
    assert kinds == {ListedCopy, TreeCopy}
