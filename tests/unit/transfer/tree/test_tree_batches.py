from tests.support.hdfs.fake_files import InMemoryFiles
from twinhive.core.model.files import FileStatus
from twinhive.transfer.tree.tree_actions import ActionKind, FileAction
from twinhive.transfer.tree.tree_batches import FileBatch, read_batch, write_batches

HERE = "hdfs://fake/t/.twinhive/work/plan"
MB = 1_000_000


def lines(*lengths: int) -> list[str]:
    return [
        FileAction(ActionKind.COPY, f"f\n{number}", FileStatus(f"hdfs://east/d/f\n{number}", length, 1)).to_line()
        for number, length in enumerate(lengths)
    ]


def test_batches_hold_all_lines_in_their_order() -> None:
    files = InMemoryFiles()
    given = lines(*range(100, 0, -1))
    batches = list(write_batches(given, files, HERE, most_files=7, aim_bytes=1000 * MB))

    assert [line for batch in batches for line in read_batch(files, batch.path)] == given
    assert [batch.files for batch in batches] == [7] * 14 + [2]
    assert sum(batch.length for batch in batches) == sum(range(101))


def test_a_batch_is_full_by_bytes_or_by_files_whichever_comes_first() -> None:
    files = InMemoryFiles()
    batches = write_batches(lines(90 * MB, 5 * MB, 5 * MB, 0, 0, 0, 0), files, HERE, most_files=3, aim_bytes=20 * MB)

    assert [(batch.files, batch.length) for batch in batches] == [(1, 90 * MB), (3, 10 * MB), (3, 0)]


def test_small_files_count_with_what_their_calls_cost() -> None:
    files = InMemoryFiles()
    batches = list(write_batches(lines(*[0] * 25), files, HERE, most_files=1000, aim_bytes=10 * MB))

    assert [batch.files for batch in batches] == [10, 10, 5]


def test_a_batch_is_there_before_the_next_one_is_dealt() -> None:
    files = InMemoryFiles()
    batches = write_batches(lines(1, 1), files, HERE, most_files=1, aim_bytes=MB)

    assert next(batches) == FileBatch(f"{HERE}/000000.gz", 1, 1)
    assert files.paths() == [f"{HERE}/000000.gz"]


def test_a_plan_without_files_has_no_batch() -> None:
    assert list(write_batches([], InMemoryFiles(), HERE, most_files=1, aim_bytes=1)) == []
