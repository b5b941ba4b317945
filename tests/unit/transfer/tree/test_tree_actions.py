from dataclasses import replace

import pytest

from twinhive.core.model.files import FileStatus
from twinhive.transfer.tree.tree_actions import ActionKind, FileAction, length_of

SOURCE = FileStatus(
    "hdfs://east/d/a/b", 10, 1700, False, 16400, "hive", "staff", 0o1640, 1024, 3, accessed_ms=1800, has_acl=True
)
TARGET = FileStatus("hdfs://west/t/x/a/b", 9, 1600, False, 7, "other", "staff", 0o644, 512, 2)
AWKWARD = [
    "new\nline",
    'quo"te',
    "it's",
    "per%20cent",
    "#hash",
    "emoji 🐘",
    "back\\slash",
    ".leading",
    " ",
    "tab\t",
    "line\u2028separator",
    "null\x01",
    "é",
    "a:b",
    "[1,2]",
    "half \ud83d",
]


@pytest.mark.parametrize(
    "action",
    [
        FileAction(ActionKind.COPY, "a/b", SOURCE, "a"),
        FileAction(ActionKind.COPY, "a/b", SOURCE, ""),
        FileAction(ActionKind.REPLACE, "a/b", SOURCE, None, TARGET, True),
        FileAction(
            ActionKind.MAKE_DIRECTORY, "a", replace(SOURCE, path="hdfs://east/d/a", is_directory=True, length=0), "a"
        ),
        FileAction(ActionKind.DELETE, "gone", None, None, TARGET),
        FileAction(ActionKind.DELETE, "gone"),
        FileAction(ActionKind.COPY, "renamed", SOURCE),
        FileAction(ActionKind.ATTRIBUTES, "", replace(SOURCE, path="hdfs://east/d"), None, TARGET, True),
    ],
)
def test_a_line_is_read_back(action: FileAction) -> None:
    line = action.to_line()

    assert FileAction.from_line(line) == action
    assert length_of(line) == action.length


@pytest.mark.parametrize("name", AWKWARD)
def test_names_with_every_awkward_character_survive(name: str) -> None:
    action = FileAction(ActionKind.COPY, f"{name}/{name}", replace(SOURCE, path=f"hdfs://east/{name}/{name}"), name)
    line = action.to_line()

    assert line.isascii()
    assert line.splitlines() == [line]
    assert FileAction.from_line(line) == action
