import pytest

from twinhive.core.model.errors import InvalidSettings
from twinhive.transfer.tree.listing.path_filters import Filter


def test_an_expression_matches_a_whole_path() -> None:
    chosen = Filter.of(exclude=["logs/.*", "user"])

    assert chosen.excludes("logs/a/b")
    assert chosen.excludes("user")
    assert not chosen.excludes("old/logs/a")
    assert not chosen.excludes("user/x")
    assert not chosen.excludes("logs")


def test_a_line_break_in_a_name_carries_it_past_no_filter() -> None:
    assert Filter.of(exclude=[".*[.]tmp"]).excludes("a\nb.tmp")


def test_without_an_include_everything_is_included() -> None:
    assert Filter.of().includes("anything")
    assert not Filter.of(["a"]).includes("anything")
    assert Filter.of(["a", "any.*"]).includes("anything")


def test_a_filter_without_expressions_takes_all() -> None:
    assert Filter.of().takes_all
    assert not Filter.of(["a"]).takes_all
    assert not Filter.of([], ["a"]).takes_all


@pytest.mark.parametrize("place", ["include", "exclude"])
def test_an_expression_that_does_not_compile_is_an_error_that_names_it(place: str) -> None:
    with pytest.raises(InvalidSettings, match="does not compile") as caught:
        Filter.of(**{place: ["fine", "(open"]})

    assert "'(open'" in str(caught.value)
