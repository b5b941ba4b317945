"""Lag over time becomes coordinates: to scale, with gaps where nobody looked."""

import re
from itertools import pairwise

import pytest

from tests.support.journal_records import NOW
from twinhive.operations.journal.records import LagSample
from twinhive.surfaces.page.plot import POINTS, Plot, plot_lag

DAY = 86_400


def a_sample(ago: float, lag: float | None, events: int | None = 1) -> LagSample:
    return LagSample("sales", NOW - ago, 1, 2, events, lag)


def drawn(*samples: LagSample, span: int = DAY, max_lag: float | None = None) -> Plot:
    plot = plot_lag(samples, NOW - span, NOW, max_lag)
    assert plot is not None
    return plot


def coordinates(path: str) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in re.findall(r"([\d.]+) ([\d.]+)", path)]


def test_without_a_lag_there_is_nothing_to_draw() -> None:
    assert plot_lag([], NOW - DAY, NOW, 60) is None
    assert plot_lag([a_sample(60, None)], NOW - DAY, NOW, 60) is None


def test_later_is_to_the_right_and_more_is_higher() -> None:
    [line] = drawn(a_sample(600, 0), a_sample(300, 30), a_sample(0, 60), span=3_600).lines
    (x1, y1), (x2, y2), (x3, y3) = coordinates(line)
    assert x1 < x2 < x3
    assert y1 > y2 > y3
    assert y2 == pytest.approx((y1 + y3) / 2)


def test_the_drawing_ends_now_and_nothing_leaves_it() -> None:
    plot = drawn(a_sample(2 * DAY, 5), a_sample(0, 7))
    assert plot.points[-1].x == plot.right
    assert plot.points[0].x == plot.left
    assert all(plot.top <= point.y <= plot.bottom for point in plot.points)


def test_a_silence_is_a_gap_and_not_a_line() -> None:
    plot = drawn(a_sample(4_000, 1), a_sample(3_400, 1), a_sample(600, 1), a_sample(0, 1))
    assert [len(coordinates(line)) for line in plot.lines] == [2, 2]
    assert len(plot.areas) == 2


def test_samples_that_fall_together_leave_no_gap() -> None:
    week = 7 * DAY
    apart = 2 * week / POINTS
    assert len(drawn(a_sample(2 * apart, 1), a_sample(apart, 1), a_sample(0, 1), span=week).lines) == 1


def test_one_sample_is_still_to_be_seen() -> None:
    [line] = drawn(a_sample(60, 3)).lines
    assert len(coordinates(line)) == 2


@pytest.mark.parametrize(("highest", "limit", "shown"), [(100, 120, True), (10, 3_600, False), (900, 120, True)])
def test_the_allowed_lag_is_drawn_where_it_says_something(highest: float, limit: float, shown: bool) -> None:
    plot = drawn(a_sample(60, highest), max_lag=limit)
    assert (plot.limit is not None) is shown
    assert plot.limit is None or plot.top <= plot.limit <= plot.bottom


@pytest.mark.parametrize("highest", [0, 3, 59, 1_000, 90_000, 2_000_000])
def test_the_grid_is_even_and_holds_every_lag(highest: float) -> None:
    plot = drawn(a_sample(60, highest))
    heights = [tick.at for tick in plot.y_ticks]
    steps = {round(one - other, 0) for one, other in pairwise(heights)}
    assert max(steps) - min(steps) <= 1
    assert min(heights) == plot.top <= plot.points[0].y
    assert plot.y_ticks[0].text == "0"


@pytest.mark.parametrize(("span", "most"), [(3_600, 8), (DAY, 8), (7 * DAY, 8)])
def test_times_are_few_and_round(span: int, most: int) -> None:
    ticks = drawn(a_sample(60, 1), span=span).x_ticks
    assert 3 <= len(ticks) <= most
    assert len({tick.text for tick in ticks}) == len(ticks)
