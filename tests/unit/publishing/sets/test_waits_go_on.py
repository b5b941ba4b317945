"""Who waits for a set waits through what may pass; what a person must mend ends the wait at once."""

from typing import Any

import pytest

from tests.support.hdfs.fake_files import InMemoryFiles
from tests.support.hive.fake_metastore import InMemoryMetastore
from tests.support.hive.hidden_objects import hide
from tests.support.users.source_writer import SourceWriter
from twinhive.core.model.errors import Missing, Refused, TwinhiveError, Unexplained, Unreachable, UnreadableObject
from twinhive.core.model.names import TableName
from twinhive.core.model.sets.set_mark import SetMark
from twinhive.core.model.sets.set_spec import SetSpec
from twinhive.publishing.sets.done_sets import WantedSet, set_answers, sets_there
from twinhive.publishing.sets.marking_sets import MarkSet
from twinhive.publishing.sets.set_waiting import wait_for_set, wanted_set

LOGS = TableName("sales", "logs")


def marked() -> InMemoryMetastore:
    files = InMemoryFiles("hdfs://east")
    metastore = InMemoryMetastore(files=files)
    SourceWriter.with_database(metastore, files, "sales").create_table("logs", ("day",))
    MarkSet(LOGS, "day=1", "t").run(metastore)
    return metastore


@pytest.mark.parametrize(
    ("error", "goes_on"), [(Unreachable("no answer"), True), (Unexplained("hm"), True), (Refused("no"), False)]
)
def test_a_wait_goes_on_after_what_may_pass(
    error: TwinhiveError, goes_on: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    metastore = marked()
    wanted = wanted_set(metastore, LOGS, "day=1")
    real, failed = metastore.partitions, list[bool]()

    def partitions(*given: Any) -> Any:
        if not failed:
            failed.append(True)
            raise error
        return real(*given)

    monkeypatch.setattr(metastore, "partitions", partitions)
    if not goes_on:
        with pytest.raises(Refused):
            wait_for_set(metastore, wanted, 60, sleep=lambda seconds: None)
        return
    assert wait_for_set(metastore, wanted, 60, sleep=lambda seconds: None).spec == "day=1"


def test_a_table_that_cannot_be_read_is_the_trouble_of_those_alone_who_wait_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    metastore = marked()
    others = [TableName("sales", "odd"), TableName("sales", "gone")]
    SourceWriter(metastore, InMemoryFiles("hdfs://east"), "sales").create_table("odd", ("day",))
    wanted = [WantedSet(one, SetSpec.unchecked("day=1")) for one in (LOGS, *others)]
    hide(monkeypatch, metastore, "sales.odd")
    logs, odd, gone = (set_answers(metastore, wanted)[one] for one in wanted)
    assert isinstance(logs, SetMark) and isinstance(gone, Missing)
    assert isinstance(odd, UnreadableObject) and "sales.odd" in str(odd)
    with pytest.raises(UnreadableObject, match=r"sales\.odd"):
        sets_there(metastore, wanted)
