"""Long statements are read in a time that grows as they do."""

import time

import pytest

from twinhive.federation.routing.opaque_commands import names_a_location


@pytest.mark.parametrize(
    "part", ["'properties(a,b' = '1', ", "properties(a, ", "'' ", "'a' ", "\\'", " ,", "path.", "("]
)
def test_a_long_list_of_properties_is_read_at_once(part: str) -> None:
    text = f"alter table t set tblproperties ({part * (200_000 // len(part))}'x' = 'y')"
    began = time.process_time()
    names_a_location(text)
    assert time.process_time() - began < 2
