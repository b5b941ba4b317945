"""Words that were given up are in no page, no message and no name: docs/glossary.md has those that are used."""

import re
from pathlib import Path

import pytest

from tests.support.package_texts import MODULES, PLUGINS, texts

CHECKOUT = Path(__file__).parents[2]
PAGES = [CHECKOUT / "README.md", *sorted((CHECKOUT / "docs").glob("*.md"))]
RETIRED = {
    r"wish(es)?": "request",
    r"stretch(es)?": "range of events",
    r"drain(s|ed|ing)?": "saved events",
    r"cut anew": "planned again",
    r"what is (much|little)": "large copies, small copies",
    r"somebody who may live": "a process that may still be running",
    r"needs? somebody": "needs attention",
    r"the one it runs as: none was told": "the user that the metastore runs as: no user name was sent",
    r"say aside|said plainly": "print_stderr, errors_shown",
    r"(brings?|bringing|brought)\b.{0,30}\bover (as a )?whole": "resync",
    r"is little": "is small",
}
"""What is not said any more, and what is said instead."""
_QUOTED = re.compile(r"`[^`]*`|```.*?```", re.DOTALL)
# `drained` is a directory on disk, and a worker may be drained: Airflow's and Kubernetes' word.
_STILL = re.compile(r"drained/|\bworker was drained|^drained$|\(drained\b|\|drained\|")


def retired(text: str) -> list[str]:
    """Return the retired words of a text."""
    return [match[0] for word in RETIRED for match in re.finditer(rf"\b{word}\b", _STILL.sub("", text), re.IGNORECASE)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_uses_the_words_of_the_glossary(page: Path) -> None:
    assert retired(_QUOTED.sub("", page.read_text(encoding="utf-8"))) == []


def test_messages_use_the_words_of_the_glossary() -> None:
    found = {str(path.relative_to(PLUGINS)): [text for text in texts(path) if retired(text)] for path in MODULES}
    assert {path: some for path, some in found.items() if some} == {}


def test_names_of_modules_functions_and_classes_do_too() -> None:
    names = re.compile(r"\b(?:class|def) (\w+)|^(\w+)\b.*=", re.MULTILINE)
    for path in MODULES:
        said = " ".join(one or other for one, other in names.findall(path.read_text(encoding="utf-8")))
        words = re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", f"{said} {path.stem}")
        assert retired(words) == [], path


@pytest.mark.parametrize(
    "text",
    [
        "your wish",
        "a range, a stretch",
        "Drained events",
        "it is cut anew",
        "which need somebody",
        "a table brought over whole",
        "it brings tables over whole",
    ],
)
def test_a_retired_word_is_found(text: str) -> None:
    assert retired(text)


@pytest.mark.parametrize("text", ["below drained/", "a worker was drained", "wishful", "the request"])
def test_other_words_are_not(text: str) -> None:
    assert not retired(text)
