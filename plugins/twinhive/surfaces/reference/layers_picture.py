"""The areas of the package as a picture: a box for each with its folders, an arrow to what it imports."""

from collections.abc import Mapping
from html import escape
from textwrap import wrap

from twinhive.surfaces.reference.layers_table import LayerRow, areas

_BOX, _LINE, _HEAD_ROOM, _APART, _BETWEEN, _EDGE = 330, 18, 34, 36, 40, 24
_LETTERS = 44
"""How many letters of the names of folders have room in a box, side by side."""
_TIP = (
    '<marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
    '<path d="M0 0 L8 4 L0 8 z" fill="#5b7083"/></marker>'
)
_Place = tuple[float, float, float]
"""Left, top and height of a box."""


def layers_picture() -> str:
    """Return an SVG: each area stands below those that it imports; what follows from other arrows has none."""
    rows = areas()
    imports = {area: frozenset(row.imports) for area, row in rows.items()}
    levels = _levels(imports)
    wide = 2 * _EDGE + max(map(len, levels)) * (_BOX + _APART) - _APART
    places, high = _places(levels, rows, wide)
    arrows = [_arrow(places[area], places[other]) for area in places for other in sorted(_direct(imports, area))]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high:g}" role="img" '
            'font-family="system-ui, sans-serif" font-size="13">',
            f"<title>Areas of plugins/twinhive, their folders, and what they import</title><defs>{_TIP}</defs>",
            f'<rect width="{wide}" height="{high:g}" fill="#ffffff"/>',
            *arrows,
            *(_box(area, rows[area], places[area]) for area in places),
            "</svg>\n",
        ]
    )


def _levels(imports: Mapping[str, frozenset[str]]) -> list[list[str]]:
    """Return the areas level by level, each in the first one that is below all that it imports."""
    number: dict[str, int] = {}
    for area, others in imports.items():  # each area comes after those that it imports
        number[area] = 1 + max((number[other] for other in others), default=-1)
    return [[area for area in number if number[area] == level] for level in range(1 + max(number.values()))]


def _direct(imports: Mapping[str, frozenset[str]], area: str) -> frozenset[str]:
    """Return what an area imports without what those import already."""
    return imports[area].difference(*(imports[other] for other in imports[area]))


def _places(levels: list[list[str]], rows: Mapping[str, LayerRow], wide: int) -> tuple[dict[str, _Place], float]:
    """Return where each box stands, and how high the picture is."""
    places: dict[str, _Place] = {}
    top: float = _EDGE
    for level in levels:
        left = (wide - len(level) * (_BOX + _APART) + _APART) / 2
        high = max(_HEAD_ROOM + _LINE * len(_lines(rows[area])) for area in level)
        places |= {area: (left + number * (_BOX + _APART), top, high) for number, area in enumerate(level)}
        top += high + _BETWEEN
    return places, top - _BETWEEN + _EDGE


def _lines(row: LayerRow) -> list[str]:
    return wrap(", ".join(row.folders), _LETTERS)


def _box(area: str, row: LayerRow, place: _Place) -> str:
    left, top, high = place
    middle = left + _BOX / 2
    folders = "".join(
        f'<text x="{middle:g}" y="{top + _HEAD_ROOM + 6 + _LINE * number:g}" text-anchor="middle" '
        f'fill="#44586a" font-size="12">{escape(line)}</text>'
        for number, line in enumerate(_lines(row))
    )
    return (
        f'<rect x="{left:g}" y="{top:g}" width="{_BOX}" height="{high:g}" rx="8" fill="#eef3f8" stroke="#5b7083"/>'
        f'<text x="{middle:g}" y="{top + 21:g}" text-anchor="middle" fill="#1d2b36" font-size="15" '
        f'font-weight="600">{escape(area)}</text>{folders}'
    )


def _arrow(lower: _Place, upper: _Place) -> str:
    begin, top = lower[0] + _BOX / 2, lower[1]
    end, bottom = upper[0] + _BOX / 2, upper[1] + upper[2]
    bend = (top - bottom) / 2
    return (
        f'<path d="M{begin:g} {top:g} C{begin:g} {top - bend:g} {end:g} {bottom + bend:g} {end:g} {bottom:g}" '
        'fill="none" stroke="#5b7083" stroke-opacity="0.6" marker-end="url(#tip)"/>'
    )
