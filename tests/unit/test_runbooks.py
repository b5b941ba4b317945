"""Keep the runbooks whole: each section is indexed, complete, tried by a test, and quotes what the code says."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.support.package_texts import FILLED_IN, MODULES, texts
from tests.support.runbooks import PARTS, Section, index, page, pieces, runbooks, says
from twinhive.operations.operation_kinds import KINDS

INTEGRATION = Path(__file__).parents[1] / "integration"
BOOKS = runbooks()
# Said by Airflow and by HDFS, not by us.
FOREIGN = ("Process terminated by signal. Likely out of memory error (OOM). ...", "could only be written to ...")
OPERATED = re.compile(r'"operation": "([a-z-]+)"')


@cache
def said() -> list[str]:
    """Return all texts of the package."""
    return [" ".join(text.split()) for path in MODULES for text in texts(path)]


def tried() -> Iterator[str]:
    """Yield the sections that tests name by their markers."""
    for path in (INTEGRATION / "runbooks").glob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.runbook":
                yield ast.literal_eval(node.args[0])


def test_each_section_has_a_test_and_each_test_a_section() -> None:
    assert sorted(tried()) == sorted(BOOKS)


def test_the_index_leads_to_each_section_in_their_order() -> None:
    assert index()[:-1] == [section.anchor for section in BOOKS.values()]


@pytest.mark.parametrize("section", BOOKS.values(), ids=lambda section: section.title)
def test_a_section_answers_all_that_is_asked_in_the_night(section: Section) -> None:
    found = re.findall(r"^\*\*(.+?)\.?\*\*", section.text, re.MULTILINE)
    assert tuple(found) == PARTS
    assert len(section.steps) >= 2
    assert section.quoted


@pytest.mark.parametrize("section", BOOKS.values(), ids=lambda section: section.title)
def test_what_a_section_quotes_is_what_the_code_says(section: Section) -> None:
    for line in section.quoted:
        if line not in FOREIGN:
            missing = [piece for piece in pieces(line) if not any(piece in text for text in said())]
            assert missing == [], f"no text of the package holds {missing}"


def test_the_forms_that_the_page_fills_in_exist() -> None:
    operations = set(OPERATED.findall(page()))
    assert {"resync", "skip-event", "unlock", "status"} <= operations <= set(KINDS)


def test_quotes_are_compared_piece_by_piece() -> None:
    assert says("x event 7 of t is lost: why", "event ... is lost")
    assert not says("is lost, the event", "event ... is lost")
    assert FILLED_IN not in pieces("event ... is lost")
