"""A person clears the task of a job: one that had ended well writes again, one that was killed goes on."""

import pytest

from tests.support.worlds.copies import left_by_kills
from tests.unit.publishing.partition_writes.test_partition_writer import NAME, Written
from twinhive.core.model.errors import ActNow
from twinhive.publishing.sets.marking_sets import UnmarkSet


@pytest.fixture
def written() -> Written:
    return Written()


def test_a_day_that_was_wrong_is_written_again_and_its_set_marked(written: Written) -> None:
    written.write({"p1": ["wrong"]}, "overwrite", set_done="p=p1")
    UnmarkSet(NAME, "p=p1").run(written.world.source)
    done = written.write({"p1": ["right"]}, "overwrite", set_done="p=p1", clearing=1)
    assert not done.already and done.shown.replaced == 1
    assert (written.rows(), written.marks()) == ({"p1": ["right"]}, [("p=p1", 1, 1)])
    written.follow()
    written.assert_twin()


def test_a_set_that_is_still_marked_is_marked_once_more(written: Written) -> None:
    for clearing in (0, 1, 3):
        written.write({"p1": [f"after {clearing}"]}, "overwrite", set_done="p=p1", clearing=clearing)
    assert (written.rows(), written.marks()) == ({"p1": ["after 3"]}, [("p=p1", 3, 1)])


def test_a_retry_of_what_has_ended_well_does_nothing(written: Written) -> None:
    written.write({"p1": ["first"]}, "append")
    written.write({"p1": ["again"]}, "append", clearing=2)
    events = written.events()
    assert written.write({"p1": ["again"]}, "append", clearing=2).already
    assert written.events() == events
    assert written.rows() == {"p1": ["again", "first"]}


def test_what_was_only_added_is_in_the_way_and_said(written: Written) -> None:
    written.write({"p1": ["first"]})
    with pytest.raises(ActNow, match=r"1 partitions of sales\.days are there already"):
        written.write({"p1": ["again"]}, clearing=1)
    assert written.rows() == {"p1": ["first"]}


@pytest.mark.thorough
@pytest.mark.parametrize("mode", ["append", "overwrite"])
def test_cleared_killed_at_any_change_and_tried_or_cleared_again_it_has_each_row_once(mode: str) -> None:
    def begin() -> Written:
        found = Written()
        found.write({"a": ["old"]}, job="before")
        found.write({"a": ["one"]}, mode, set_done="*")
        return found

    def write(found: Written, clearing: int, switch: object = None) -> None:
        found.write({"a": ["two"], "b": ["three"]}, mode, switch=switch, set_done="*", clearing=clearing)

    for found in left_by_kills(begin, lambda found, switch: write(found, 1, switch), least=10):
        files = found.world.source_files
        had_ended = b"1" in [files.read(path) for path in files.paths() if path.endswith("/done")]
        write(found, 1 if had_ended else 2)
        assert found.rows() == {"a": ["two"] if mode == "overwrite" else ["old", "one", "two"], "b": ["three"]}
        assert [count for _, count, _ in found.marks()] == [2]
