"""Read docs/runbooks.md: its sections, the lines of logs that they quote, its index, its shell functions."""

import re
from dataclasses import dataclass
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "runbooks.md"
_FENCE = re.compile(r"^ *```(\w*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
_PREFIX = re.compile(r"(found|expected|next): +")
PARTS = ("You see", "It means", "Do", "It is over when", "Do not")
"""What each runbook answers, in this order."""


@dataclass(frozen=True)
class Section:
    """One runbook: a heading of the second level that answers all of `PARTS`."""

    title: str
    text: str

    @property
    def quoted(self) -> tuple[str, ...]:
        """The lines of logs that it quotes; `...` stands for what differs."""
        lines = (
            line.strip() for kind, text in _FENCE.findall(self.text) if kind == "log" for line in text.splitlines()
        )
        return tuple(_PREFIX.sub("", line) for line in lines if line)

    def line(self, words: str) -> str:
        """Return the one quoted line that holds some words."""
        [found] = [line for line in self.quoted if words in line]
        return found

    @property
    def steps(self) -> tuple[str, ...]:
        """The numbered steps."""
        return tuple(re.findall(r"^\d+\. +(.*)", self.text, re.MULTILINE))

    @property
    def anchor(self) -> str:
        """How the index links to it."""
        return "#" + re.sub(r"[^\w -]", "", self.title.lower()).replace(" ", "-")


def pieces(quoted: str) -> list[str]:
    """Return what a quoted line says for certain."""
    return [piece.strip() for piece in quoted.split("...") if piece.strip()]


def says(text: str, quoted: str) -> bool:
    """Tell whether a line of a text is what was quoted."""
    return re.search(r".*?".join(re.escape(piece) for piece in pieces(quoted)), text) is not None


def page() -> str:
    """Return the whole page."""
    return PAGE.read_text(encoding="utf-8")


def runbooks() -> dict[str, Section]:
    """Return the runbooks by title, in the order of the page."""
    found = re.split(r"^## +(.+)$", page(), flags=re.MULTILINE)
    sections = [Section(title, text) for title, text in zip(found[1::2], found[2::2], strict=True)]
    return {section.title: section for section in sections if f"**{PARTS[0]}.**" in section.text}


def index() -> list[str]:
    """Return the links of the table at the top of the page."""
    return re.findall(r"\]\((#[^)]+)\)", page().partition("\n## ")[0])


def shell_functions() -> str:
    """Return what the page tells people to paste into a shell."""
    [text] = [text for kind, text in _FENCE.findall(page()) if kind == "bash" and "api()" in text]
    return str(text)
