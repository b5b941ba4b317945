"""What a filter lets through, and what cannot be judged: too little would lose rows without a word."""

import pytest

from twinhive.federation.connectors.client_refusals import RefusedCall
from twinhive.federation.connectors.filters import parse_filter
from twinhive.federation.connectors.partition_pruning import check_filter, lets_through


@pytest.mark.parametrize("kind", ["decimal(10,2)", "double", "float", "timestamp", "boolean"])
@pytest.mark.parametrize("text", ["k > '9'", "k in ('1')", "k like '1%'", "k not like '1%'"])
def test_keys_that_are_neither_texts_nor_whole_numbers_nor_dates_are_refused(kind: str, text: str) -> None:
    with pytest.raises(RefusedCall, match="another type"):
        check_filter(parse_filter(text), {"k": kind})


@pytest.mark.parametrize(
    ("text", "value", "passes"),
    [
        ("k like 'd1.*'", "d10", True),
        ("k not like 'd1.*'", "d10", True),  # by SQL it is not like that
        ("k not like 'd1.*'", "d1.*", False),
        ("k not like 'd1%'", "d10", False),
        ("k not like 'd1%'", "d20", True),
    ],
)
def test_not_like_keeps_back_only_what_both_readings_of_a_pattern_find(text: str, value: str, passes: bool) -> None:
    assert lets_through(parse_filter(text), {"k": value}, {"k": "string"}) is passes
