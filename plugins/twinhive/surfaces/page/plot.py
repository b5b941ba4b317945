"""Draw lag over time: from samples to the coordinates of one SVG."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from twinhive.operations.journal.records import LagSample
from twinhive.surfaces.page.readable_numbers import duration

WIDTH, HEIGHT = 1180, 190
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 10, 10, 22
POINTS = 300
"""How many samples are asked for: of those that fall together only the greatest is drawn."""

_SILENCE_SECONDS = 900
"""Unchanged values are recorded every ten minutes at least; a longer silence means that nobody looked."""

_STEPS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 14_400, 21_600, 43_200, 86_400)
_Y_TICKS, _X_TICKS = 4, 8


@dataclass(frozen=True)
class Tick:
    """A line of the grid: where it is in the drawing, and what it says."""

    at: float
    text: str


@dataclass(frozen=True)
class Point:
    """One sample: where it is in the drawing, how far around it a pointer means it, and what it says."""

    x: float
    y: float
    reach: float
    at: float
    lag_seconds: float
    lag_events: int | None


@dataclass(frozen=True)
class Plot:
    """The drawing, in its own coordinates (`WIDTH` by `HEIGHT`, y downwards).

    lines, areas  an SVG path for each range without a gap
    limit         where the allowed lag is; None when it is not set or above the drawing
    points        the samples
    """

    lines: tuple[str, ...]
    areas: tuple[str, ...]
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    limit: float | None
    points: tuple[Point, ...]
    left: int = _LEFT
    right: int = WIDTH - _RIGHT
    top: int = _TOP
    bottom: int = HEIGHT - _BOTTOM
    width: int = WIDTH
    height: int = HEIGHT


def plot_lag(samples: Sequence[LagSample], begin: float, end: float, max_lag: float | None) -> Plot | None:
    """Draw the samples between two moments (seconds of the epoch), oldest first; None when none has a lag."""
    known = [sample for sample in samples if sample.lag_seconds is not None]
    if not known:
        return None
    highest = max(sample.lag_seconds or 0 for sample in known)
    # An allowed lag far above all samples would press them to the ground.
    shown_limit = max_lag if max_lag is not None and max_lag <= 3 * max(highest, max_lag / 3, 1) else None
    top = _ceiling(max(highest, shown_limit if shown_limit and highest * 4 > shown_limit else 0, 4))
    scale = _Scale(begin, end, top)
    gap = _SILENCE_SECONDS + 2 * (end - begin) / POINTS
    reach = max(1.0, round((WIDTH - _LEFT - _RIGHT) / len(known) / 2, 1))
    event_ranges = [[scale.point(sample) for sample in event_range] for event_range in _event_ranges(known, gap)]
    return Plot(
        lines=tuple(_line(points) for points in event_ranges),
        areas=tuple(_area(points) for points in event_ranges),
        x_ticks=tuple(scale.x_ticks()),
        y_ticks=tuple(scale.y_ticks()),
        limit=scale.y(max_lag) if max_lag is not None and max_lag <= top else None,
        points=tuple(Point(*scale.point(one), reach, one.at, one.lag_seconds or 0.0, one.lag_events) for one in known),
    )


@dataclass(frozen=True)
class _Scale:
    begin: float
    end: float
    top: float

    def x(self, at: float) -> float:
        return round(_LEFT + (at - self.begin) / (self.end - self.begin) * (WIDTH - _LEFT - _RIGHT), 1)

    def y(self, lag: float) -> float:
        return round(HEIGHT - _BOTTOM - lag / self.top * (HEIGHT - _TOP - _BOTTOM), 1)

    def point(self, sample: LagSample) -> tuple[float, float]:
        return self.x(max(sample.at, self.begin)), self.y(sample.lag_seconds or 0)

    def y_ticks(self) -> Iterator[Tick]:
        step = self.top / _Y_TICKS
        for number in range(_Y_TICKS + 1):
            yield Tick(self.y(number * step), duration(number * step) if number else "0")

    def x_ticks(self) -> Iterator[Tick]:
        step = next((step for step in _STEPS if (self.end - self.begin) / step <= _X_TICKS), _STEPS[-1])
        pattern = "%H:%M" if step < 43_200 else "%a %d"
        first = int(self.begin // step + 1) * step
        for at in range(first, int(self.end) + 1, step):
            yield Tick(self.x(at), f"{datetime.fromtimestamp(at, UTC):{pattern}}")


def _ceiling(highest: float) -> float:
    """Return the least round height that four even steps divide well."""
    return _Y_TICKS * next((step for step in _STEPS if step * _Y_TICKS >= highest), -(-highest // 345_600) * 86_400)


def _event_ranges(samples: Sequence[LagSample], gap: float) -> Iterator[list[LagSample]]:
    event_range: list[LagSample] = []
    for sample in samples:
        if event_range and sample.at - event_range[-1].at > gap:
            yield event_range
            event_range = []
        event_range.append(sample)
    yield event_range


def _line(points: Sequence[tuple[float, float]]) -> str:
    # A range of one sample is still to be seen.
    ends = points if len(points) > 1 else [*points, (points[0][0] + 1, points[0][1])]
    return "M" + "L".join(f"{x} {y}" for x, y in ends)


def _area(points: Sequence[tuple[float, float]]) -> str:
    ground = HEIGHT - _BOTTOM
    return f"{_line(points)}V{ground}H{points[0][0]}Z"
