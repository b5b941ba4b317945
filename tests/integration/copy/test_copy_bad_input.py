"""Type what `twinhive copy` cannot do, between two real HDFS: an error says it, and nothing has changed."""

from collections.abc import Iterator

import pytest

from sandbox import Sandbox
from tests.support.copy_terminal import CopyTerminal, names, tree
from twinhive.core.model.files import join, parent

pytestmark = pytest.mark.sandbox

ACT_NOW = 4
BAD_INPUT = {
    "a source that is missing": ("{s}/none", "{t}", "the source does not exist"),
    "a target in its source": ("{s}/a", "{s}/a/below", "the target lies in its source"),
    "a target that is its source": ("{s}/a", "{s}/a", "source and target are the same"),
    "a source in its target": ("{s}/a/same", "{s}", "--delete", "trash", "the source lies in its target"),
    "two sources of one name": ("{s}/a/same", "{s}/b/same", "{t}", "2 sources would have the name same"),
    "a store that cannot rename": ("{s}/a", "s3a://bucket/t", "which s3a cannot do in one step"),
    "an unknown letter": ("{s}/a", "{t}", "--preserve", "rz", "'z' is not a letter"),
    "a filter that does not compile": ("{s}/a", "{t}", "--exclude", "(", "does not compile"),
    "filters that cannot be read": ("{s}/a", "{t}", "--filters", "/no/such/file", "cannot be read"),
    "staging elsewhere": ("{s}/a", "{t}", "--staging", "hdfs://east/tmp/staging", "not on the target's file system"),
    "staging in the target": ("{s}/a", "{t}", "--staging", "{t}/staging", "would be taken for content"),
    "no threads": ("{s}/a", "{t}", "--threads", "0", "threads must be above zero"),
    "a negative rate": ("{s}/a", "{t}", "--bandwidth", "-5", "bandwidth_mb must be above zero"),
    "parts of nothing": ("{s}/a", "{t}", "--split-above", "0", "split_above must be above zero"),
    "negative days": ("{s}/a", "{t}", "--trash-days", "-1", "trash_days must be above zero"),
    "a file against a directory": ("{s}", "{t}", "1 paths cannot be made equal"),
    "a directory onto a file": ("{s}/a", "{t}/kept", "cannot be put there"),
    "a name that HDFS does not allow": ("file://{local}/local", "{t}", "HDFS allows no colon"),
    "a symbolic link in the source": ("file://{local}/links", "{t} that is new", "a symbolic link"),
    "an atomic copy to what exists": ("{s}/a", "{t}", "--atomic", "has to make its target"),
    "an empty source that would delete": ("{s}/empty", "{t}", "--delete", "permanently", "the source is empty"),
    "an unknown file system": ("hdfs://nowhere/a", "{t}", "hdfs://nowhere"),
}


@pytest.fixture(scope="module")
def full(sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Iterator[CopyTerminal]:
    """A source with two directories, and a target with something in it, which nothing changes."""
    made = CopyTerminal(sandbox, tmp_path_factory.mktemp("full"))
    for name in ("a/same/f", "b/same/f", "file"):
        made.east.write(join(made.source, name), b"content")
    made.east.make_directories(join(made.source, "empty"))
    made.west.write(join(made.target, "kept"), b"kept")
    made.west.make_directories(join(made.target, "file"))
    (made.directory / "local").mkdir()
    (made.directory / "local" / "a:b").touch()
    (made.directory / "links").mkdir()
    (made.directory / "links" / "link").symlink_to(made.directory / "local")
    yield made
    made.close()


@pytest.mark.thorough
@pytest.mark.parametrize("case", BAD_INPUT)
def test_bad_input_is_said_before_anything_is_changed(full: CopyTerminal, case: str) -> None:
    places = {"s": full.source, "t": full.target, "local": full.directory}
    *words, says = (word.format(**places) for word in BAD_INPUT[case])
    before = tree(full.east, full.source), tree(full.west, full.target)
    ended = full.type(*words, code=ACT_NOW)
    assert says in ended.said and "next:" in ended.said
    assert (tree(full.east, full.source), tree(full.west, full.target)) == before
    assert names(full.west, parent(full.target)) == ["t"], "nothing is left beside a target that was to be made"
