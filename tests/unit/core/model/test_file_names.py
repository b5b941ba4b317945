import pytest
from hypothesis import given
from hypothesis import strategies as st

from twinhive.core.model.file_names import file_name, is_altered, shortened
from twinhive.core.model.untrusted_paths import leads_elsewhere


@pytest.mark.parametrize("name", ["orders", "two words", "täglich", "a.b", "...", "x|sh", "日" * 60, "x" * 220])
def test_most_tables_give_files_their_plain_names(name: str) -> None:
    assert file_name(name) == name
    assert not is_altered(name)


@pytest.mark.parametrize("name", [".", "..", "a/b", "50%", "\n", "\x00", "x" * 221, "\ud83d"])
def test_the_others_give_names_that_say_so(name: str) -> None:
    assert is_altered(file_name(name))


@given(st.lists(st.text(st.characters(), min_size=1, max_size=300), min_size=2, max_size=6, unique=True))
def test_no_two_names_share_a_file_and_each_is_one_component_with_room(names: list[str]) -> None:
    files = {file_name(name) for name in names}
    assert len(files) == len(names)
    assert not any(leads_elsewhere(file) or "/" in file or len(file.encode()) > 220 for file in files)


@pytest.mark.parametrize(("name", "room"), [("a" * 300, 100), ("é" * 300, 101), ("日" * 300, 40)])
def test_a_shortened_name_fits_and_tells_others_apart(name: str, room: int) -> None:
    assert len(shortened(name, room).encode()) <= room
    assert shortened(name, room) != shortened(name + "x", room)
    assert shortened(name, 2000) == name
