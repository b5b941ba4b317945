"""Databases are written in the forms that Hive's own parser reads; what it says of each is noted here."""

import pytest

from twinhive.hive.wire.name_forms import DatabaseText, split_full_name


@pytest.mark.parametrize(
    ("text", "catalog", "database"),
    [
        ("db", None, "db"),
        ("@hive#db", "hive", "db"),
        ("@hive#", "hive", None),
        ("@hive#!", "hive", ""),
        ("!", None, "!"),
        ("@#db", "", "db"),
        ("#db", None, "#db"),
        ("@hive#a#b", "hive", "a#b"),
        ("@HIVE#Db", "HIVE", "Db"),
        ("", None, ""),
        ("db#", None, "db#"),
        ("@hive#db#", "hive#db", None),
        ("@hive#db!", "hive#d", ""),
        ("@c#@d#x", "c", "@d#x"),
        ("hive.db", None, "hive.db"),
        ("@hive", None, "@hive"),  # Hive refuses this one itself
    ],
)
def test_a_form_is_read_as_hive_reads_it(text: str, catalog: str | None, database: str | None) -> None:
    assert DatabaseText.parse(text) == DatabaseText(text, catalog, database)


def test_a_renamed_form_is_the_same_form() -> None:
    assert DatabaseText.parse("@Hive#Db").renamed("new") == "@Hive#new"
    assert DatabaseText.parse(" DB ").renamed("new") == "new"
    assert DatabaseText.parse("@hive#").renamed("new") == "@hive#"


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("d.t", ("", "d", "t")),
        ("c.d.t", ("c.", "d", "t")),
        ("t", None),
        ("c.d.t.m", None),
        ("", None),
    ],
)
def test_a_full_name_is_split(text: str, parts: tuple[str, str, str] | None) -> None:
    assert split_full_name(text) == parts
