"""The page about statements names tests that exist, and says all words of the grammar."""

import re
from pathlib import Path

TESTS = Path(__file__).parents[3]
PAGE = (TESTS.parent / "docs" / "repl.md").read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`([a-z_/]+\.py)::(test_\w+)`", PAGE)))


def test_every_test_that_the_page_names_exists() -> None:
    assert len(NAMED) > 25
    missing = [
        f"{path}::{name}"
        for path, name in NAMED
        if not (TESTS / path).is_file() or f"def {name}(" not in (TESTS / path).read_text(encoding="utf-8")
    ]
    assert missing == []


def test_every_row_of_the_seeds_table_names_a_test() -> None:
    table = PAGE.split("## The seed's command section")[1].splitlines()
    rows = [line for line in table if line.startswith("|") and not line.startswith(("|---", "| The seed", "| **"))]
    assert len(rows) > 30
    assert [row for row in rows if "::test_" not in row] == []
