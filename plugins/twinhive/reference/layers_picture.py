"""The folders of the package as a picture: a box for each, an arrow to what it imports."""

from collections.abc import Mapping
from html import escape

from twinhive.reference.layers_table import layers

_BOX, _HIGH, _APART, _BETWEEN, _EDGE = 172, 30, 28, 44, 24
_HEAD = (
    '<marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
    '<path d="M0 0 L8 4 L0 8 z" fill="#5b7083"/></marker>'
)


def layers_picture() -> str:
    """Return an SVG: each folder stands below those that it imports; what follows from other arrows has none."""
    imports = {part: frozenset(row["imports"].split()) & layers().keys() for part, row in layers().items()}
    rows = _rows(imports)
    wide = 2 * _EDGE + max(len(row) for row in rows) * (_BOX + _APART) - _APART
    high = 2 * _EDGE + len(rows) * (_HIGH + _BETWEEN) - _BETWEEN
    places = {part: place for number, row in enumerate(rows) for part, place in _places(row, number, wide)}
    arrows = [_arrow(places[part], places[other]) for part in places for other in sorted(_direct(imports, part))]
    boxes = [_box(part, *places[part]) for part in places]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" role="img" '
            'font-family="ui-monospace, monospace" font-size="13">',
            f"<title>Folders of plugins/twinhive and what they import</title><defs>{_HEAD}</defs>",
            f'<rect width="{wide}" height="{high}" fill="#ffffff"/>',
            *arrows,
            *boxes,
            "</svg>\n",
        ]
    )


def _rows(imports: Mapping[str, frozenset[str]]) -> list[list[str]]:
    """Return the folders row by row, each in the first one that is below all that it imports."""
    number: dict[str, int] = {}
    for part, others in imports.items():  # each folder comes after those that it imports
        number[part] = 1 + max((number[other] for other in others), default=-1)
    return [[part for part in number if number[part] == row] for row in range(1 + max(number.values()))]


def _direct(imports: Mapping[str, frozenset[str]], part: str) -> frozenset[str]:
    """Return what a folder imports without what those import already."""
    return imports[part].difference(*(imports[other] for other in imports[part]))


def _places(row: list[str], number: int, wide: int) -> list[tuple[str, tuple[float, float]]]:
    left = (wide - len(row) * (_BOX + _APART) + _APART) / 2
    top = _EDGE + number * (_HIGH + _BETWEEN)
    return [(part, (left + place * (_BOX + _APART), top)) for place, part in enumerate(row)]


def _box(part: str, left: float, top: float) -> str:
    middle = left + _BOX / 2
    return (
        f'<rect x="{left:g}" y="{top:g}" width="{_BOX}" height="{_HIGH}" rx="6" fill="#eef3f8" stroke="#5b7083"/>'
        f'<text x="{middle:g}" y="{top + 20:g}" text-anchor="middle" fill="#1d2b36">{escape(part)}</text>'
    )


def _arrow(lower: tuple[float, float], upper: tuple[float, float]) -> str:
    begin, top = lower[0] + _BOX / 2, lower[1]
    end, bottom = upper[0] + _BOX / 2, upper[1] + _HIGH
    bend = (top - bottom) / 2
    return (
        f'<path d="M{begin:g} {top:g} C{begin:g} {top - bend:g} {end:g} {bottom + bend:g} {end:g} {bottom:g}" '
        'fill="none" stroke="#5b7083" stroke-opacity="0.55" marker-end="url(#tip)"/>'
    )
