"""A directory that is listed with an answer that nobody knows is not left out: the whole copy is tried again."""

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from tests.support.hdfs.fake_files import InMemoryFiles
from tests.unit.transfer.tree.trees import Changed, Trees
from twinhive.core.model.errors import Unexplained
from twinhive.core.model.exit_codes import ExitCode
from twinhive.runtime.spark.job_outcome import ended


def odd_about(name: str, files: InMemoryFiles, *, once: bool = False) -> Changed:
    """Return a file system that answers oddly when a directory of that name is listed."""
    met: list[str] = []

    def list_pages(paths: Sequence[str]) -> Iterator[Any]:
        for path in paths:
            if path.endswith(f"/{name}") and not (once and met):
                met.append(path)
                raise Unexplained(f"{path}: refused", found="Odd: hm", expected="an answer", next_step="see the log")
            yield from files.list_pages([path])

    return Changed(files, list_pages=list_pages)


@pytest.fixture
def trees() -> Trees:
    trees = Trees(a=b"1", q__x=b"2", r__y=b"3")
    trees.sync()
    trees.put("r/new", b"4")
    return trees


@pytest.mark.parametrize("side", ["source", "target"])
@pytest.mark.parametrize("on_unreadable", ["fail", "skip"])
def test_nothing_is_done_and_it_is_tried_again(trees: Trees, side: str, on_unreadable: str) -> None:
    odd = {side: odd_about("q", getattr(trees, side))}
    before = trees.at_target()
    with pytest.raises(Unexplained, match="d/q: refused") as met:
        trees.sync(**odd, on_unreadable=on_unreadable)
    assert "grant the right" not in str(met.value)
    assert ended("copy_tree", lambda: trees.sync(**odd, on_unreadable=on_unreadable).exit_code) is ExitCode.TRY_AGAIN
    assert trees.at_target() == before
    trees.sync()
    trees.assert_twin()


def test_an_answer_that_does_not_come_again_fails_nothing(trees: Trees) -> None:
    assert trees.sync(source=odd_about("q", trees.source, once=True)).exit_code is ExitCode.DONE
    trees.assert_twin()
