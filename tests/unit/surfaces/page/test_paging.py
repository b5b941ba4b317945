"""Pages hold every entry once, and a page that is not there is the last one."""

import pytest

from twinhive.surfaces.page.paging import Paging


@pytest.mark.parametrize(
    ("total", "wanted", "number", "pages", "first", "last"),
    [(0, 1, 1, 1, 0, 0), (50, 1, 1, 1, 1, 50), (51, 2, 2, 2, 51, 51), (101, 99, 3, 3, 101, 101), (9, 0, 1, 1, 1, 9)],
)
def test_a_page_knows_its_entries(total: int, wanted: int, number: int, pages: int, first: int, last: int) -> None:
    paging = Paging.of(total, wanted, 50)
    assert (paging.number, paging.pages, paging.first, paging.last) == (number, pages, first, last)
