"""Lines of the log that say the same are written once a second, with how many were passed over."""

from twinhive.federation.gateway.log_rate_limit import OneASecond


def test_of_many_lines_one_a_second_is_written_with_the_number_of_those_before_it() -> None:
    now = 10.0
    lines = OneASecond(lambda: now)
    assert lines.another(("far", "get_table_req")) == 0
    assert [lines.another(("far", "get_table_req")) for _ in range(5)] == [None] * 5
    assert lines.another(("near", "get_table_req")) == 0
    now = 11.0
    assert lines.another(("far", "get_table_req")) == 5
    now = 12.0
    assert lines.another(("far", "get_table_req")) == 0


def test_what_is_remembered_is_bounded() -> None:
    lines = OneASecond(lambda: 0.0)
    for number in range(10_000):
        assert lines.another(number) == 0
    assert len(lines._written) <= 1_000
