"""What the documents say of files and folders is there."""

import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.policy_terminal import a_terminal
from tests.support.staging_names import names_in_staging
from twinhive.core.model import files
from twinhive.core.model.lease_kinds import LeaseKind
from twinhive.operations.operation_kinds import KINDS
from twinhive.replication.dump import staging_cleanup

CHECKOUT = Path(__file__).parents[2]
ROOTS = (CHECKOUT, CHECKOUT / "plugins" / "twinhive", CHECKOUT / "tests", CHECKOUT / "tests" / "unit")
PAGES = [CHECKOUT / "README.md", *sorted((CHECKOUT / "docs").glob("*.md"))]
OLD_PATHS = CHECKOUT / "docs" / "old-paths.md"
README = PAGES[0].read_text(encoding="utf-8")
_FILE = re.compile(r"`([\w./-]*/[\w*-]+\.py)(?:::[\w.]+)?`")
# Steps of one thing, in files that follow each other: a map that is longer is not read.
MOST_STEPS, MOST_LINES_OF_DESIGN, MOST_WORDS = 8, 500, 30
# What a newcomer reads first, beside code: a screen and a half.
MOST_WORDS_BEFORE_THE_MAP = 350
_NOT_READ = re.compile(r"```.*?```|\]\([^)]*\)|[\[\]|#*`!-]", re.DOTALL)


def named(page: Path) -> Iterator[str]:
    text = page.read_text(encoding="utf-8")
    if page == OLD_PATHS:
        text = "\n".join(now for _, now in moved_paths())
    for match in _FILE.finditer(text):
        yield match[1]


def moved_paths() -> list[tuple[str, str]]:
    """Return the rows of the table of old paths: before, now, each as it is written."""
    rows = [line.split("|")[1:3] for line in OLD_PATHS.read_text(encoding="utf-8").splitlines() if line[:3] == "| `"]
    return [(before.strip(), now.strip()) for before, now in rows]


def test_folders_and_files_of_before_are_gone_and_those_of_now_are_there() -> None:
    def is_there(written: str) -> bool:
        return any((root / written.strip("`")).exists() for root in ROOTS[:2])

    rows = moved_paths()
    assert len(rows) > 100
    assert [now for _, now in rows if not is_there(now)] == []
    modules = [before for before, now in rows if before.endswith(".py`") and before != now]
    assert [before for before in modules if is_there(before)] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_that_a_page_names_are_there(page: Path) -> None:
    assert [name for name in named(page) if not any(list(root.glob(name)) for root in ROOTS)] == []


def test_modules_that_the_code_names_are_there() -> None:
    package = ROOTS[1]
    wrong = []
    for path in sorted(package.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        wrong += [name for name in _FILE.findall(text) if not any(list(r.glob(name)) for r in (*ROOTS, path.parent))]
    assert wrong == []


def anchors(page: Path) -> set[str]:
    heads = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_pages_and_sections_that_are_there(page: Path) -> None:
    wrong = []
    for link in re.findall(r"\]\(([^)\s:]+)\)", page.read_text(encoding="utf-8")):
        file, _, section = link.partition("#")
        there = page.parent / file if file else page
        if not there.exists() or (section and there.suffix == ".md" and section not in anchors(there)):
            wrong.append(link)
    assert wrong == []


def test_the_design_can_be_read_in_one_go() -> None:
    assert len((CHECKOUT / "docs" / "design.md").read_text(encoding="utf-8").splitlines()) < MOST_LINES_OF_DESIGN


DESIGN = (CHECKOUT / "docs" / "design.md").read_text(encoding="utf-8")
LAYERS = (CHECKOUT / "docs" / "layers.md").read_text(encoding="utf-8")


def test_the_design_names_the_operations_that_there_are() -> None:
    listed = DESIGN.split("## Operations\n")[1].split(": frozen values")[0]
    assert set(re.findall(r"`([\w-]+)`", listed)) == set(KINDS)


def test_the_design_says_who_takes_the_lease_for_each_kind_of_work() -> None:
    table = DESIGN.split("by the kind of work. ")[1].split("* For what")[0]
    assert re.findall(r"^  \| `(\w+)` \|", table, re.MULTILINE) == [kind.value for kind in LeaseKind]


def test_tests_that_the_pages_name_are_there_once() -> None:
    """A name that two tests have says of neither what it proves."""
    texts = [path.read_text(encoding="utf-8") for path in sorted((CHECKOUT / "tests").rglob("test_*.py"))]
    defined = Counter(name for text in texts for name in re.findall(r"^ *def (test_\w+)", text, re.MULTILINE))
    modules = {path.stem for path in (CHECKOUT / "tests").rglob("test_*.py")}
    named_there = {name for page in PAGES for name in re.findall(r"`(test_\w+)`", page.read_text(encoding="utf-8"))}
    assert {name: defined[name] for name in named_there - modules if defined[name] != 1} == {}


def test_the_glossary_is_short() -> None:
    rows = re.findall(r"^\| (?!Word)([^|-][^|]*)\|", (CHECKOUT / "docs" / "glossary.md").read_text(), re.MULTILINE)
    words = [word for row in rows for word in row.split(",")]
    assert 0 < len(words) <= MOST_WORDS


def test_the_map_shows_each_area_of_the_package_once_and_in_order() -> None:
    areas = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["twinhive"]["layers"]
    shown = README.split("## Map of the code")[1].split("```")[1].strip().splitlines()
    assert [(area, holds.strip()) for area, _, holds in (line.partition("/") for line in shown)] == [
        (area, row["holds"]) for area, row in areas.items()
    ]


def test_the_way_of_one_event_is_a_short_list() -> None:
    section = LAYERS.split("## One event, in")[1].split("\n## ")[0]
    steps = re.findall(r"^(\d+)\. `", section, re.MULTILINE)
    assert steps == [str(number) for number in range(1, len(steps) + 1)]
    assert 0 < len(steps) <= MOST_STEPS


def test_the_readme_is_read_in_a_minute() -> None:
    words = _NOT_READ.sub(" ", README.split("## Map of the code")[0]).split()
    assert 0 < len(words) <= MOST_WORDS_BEFORE_THE_MAP


def test_the_policy_of_the_readme_passes_the_check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (policy,) = re.findall(r"```yaml\n(.*?)```", README, re.DOTALL)
    terminal = a_terminal(tmp_path, monkeypatch)
    terminal.policies.write("policies/sales.yaml", policy)
    (checked,) = terminal.document("check", "sales")["policies"]
    assert checked["problems"] == []


SHELVES = ("Tutorial", "How-to", "Reference", "Explanation")


def test_every_document_is_on_one_shelf_of_the_index() -> None:
    index = (CHECKOUT / "docs" / "README.md").read_text(encoding="utf-8")
    shelves = re.findall(r"^## (.*)\n((?:(?!## ).*\n)*)", index, re.MULTILINE)
    assert tuple(title for title, _ in shelves) == SHELVES
    rows = [re.findall(r"^\| \[[^]]+\]\(([\w-]+\.md)\) \| \S", shelf, re.MULTILINE) for _, shelf in shelves]
    assert all(rows)
    there = [page.name for page in (CHECKOUT / "docs").glob("*.md") if page.name != "README.md"]
    assert sorted(name for shelf in rows for name in shelf) == sorted(there)


def test_the_names_that_are_left_out_as_unfinished_are_all_told() -> None:
    page = (CHECKOUT / "docs" / "external-tables.md").read_text(encoding="utf-8")
    (row,) = (line for line in page.splitlines() if line.startswith("| `unfinished` |"))
    assert [name for name in files._UNFINISHED if f"`{name}*`" not in row] == []


def test_what_outlives_a_window_in_staging_is_all_told() -> None:
    page = (CHECKOUT / "docs" / "on-disk.md").read_text(encoding="utf-8")
    (said,) = re.findall(r"^((?:`[\w-]+`(?:, | and ))+`[\w-]+`) outlive a load and a\s+window;", page, re.MULTILINE)
    assert set(re.findall(r"[\w-]+(?=`)", said)) == names_in_staging() - {*staging_cleanup._OF_A_RUN, "events"}
