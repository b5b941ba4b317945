"""The table of methods is whole: every method, every text decided, every kind of place."""

import pytest

from twinhive.hive.wire.method_table import METHODS, Kind, NamePlace
from twinhive.hive.wire.method_table_generator import derived, undecided, words_of
from twinhive.hive.wire.roles import Role

STRUCTS = {
    "get_args": [(1, "req", "Request"), (2, "flag", "bool")],
    "get_result": [(0, "success", "list<Thing>"), (1, "o1", "MetaException")],
    "end_args": [],
    "Request": [(1, "dbName", "string"), (2, "tblName", "string"), (3, "size", "i32")],
    "Thing": [(1, "owner", "string")],
    "MetaException": [(1, "message", "string")],
}


def places(method: str) -> dict[str, Role]:
    return {place.path: place.role for place in METHODS[method].request}


def test_all_methods_of_the_server_are_there() -> None:
    assert len(METHODS) == 283 + 13  # the second are those of the service that it extends: status, shutdown
    assert {name for name, method in METHODS.items() if method.oneway} == {"reinitialize", "shutdown"}


def test_a_text_that_no_rule_knows_is_undecided() -> None:
    assert undecided(STRUCTS) == []
    more = {**STRUCTS, "Thing": [(1, "tableOfTables", "map<string,i32>")]}
    assert undecided(more) == ["Thing.tableOfTables"]


def test_only_what_names_something_is_kept() -> None:
    lines = derived("1.0", STRUCTS).splitlines()
    assert lines == [
        '{"hive": "1.0",',
        ' "methods": {',
        '  "end": {"request": [], "answer": [], "exceptions": [], "oneway": true},',
        '  "get": {"request": [[1, "req", "Request"]], "answer": [[0, "success", "list<Thing>"]], '
        '"exceptions": [[1, "MetaException"]]}',
        " },",
        ' "structs": {',
        '  "Request": [[1, "dbName", "string", "database"], [2, "tblName", "string", "table"]]',
        " }}",
    ]


@pytest.mark.parametrize(
    ("method", "path", "role"),
    [
        ("get_table", None, None),
        ("get_table_req", "1:req/1:dbName", Role.DATABASE),
        ("get_table_meta", "1:db_patterns", Role.DATABASE_PATTERN),
        ("get_table_meta", "2:tbl_patterns", Role.TABLE_PATTERN),
        ("get_valid_write_ids", "1:rqst/1:fullTableNames/[]", Role.FULL_NAME),
        ("get_table_objects_by_name_req", "1:req/2:tblNames/[]", Role.TABLE),
        ("get_foreign_keys", "1:request/1:parent_db_name", Role.DATABASE),
        ("add_partitions", "1:new_parts/[]/6:sd/11:skewedInfo/3:skewedColValueLocationMaps/{}", Role.LOCATION),
        ("set_aggr_stats_for", "1:request/1:colStats/[]/1:statsDesc/3:tableName", Role.TABLE),
        ("get_databases_req", "1:request/2:pattern", Role.DATABASE_PATTERN),
        ("get_functions_req", "1:request/3:pattern", Role.FUNCTION_PATTERN),
        ("add_partitions", "1:new_parts/[]/6:sd/1:cols/[]/1:name", None),
        ("add_partitions", "1:new_parts/[]/6:sd/7:serdeInfo/1:name", None),
    ],
)
def test_names_stand_where_the_server_has_them(method: str, path: str | None, role: Role | None) -> None:
    if path is None:
        assert method not in METHODS
    else:
        assert places(method).get(path) is role


def test_answers_have_places_too() -> None:
    assert NamePlace("0:success/[]/2:dbName", Role.DATABASE) in METHODS["get_partitions"].answer
    assert METHODS["get_all_databases"].answer == (NamePlace("0:success/[]", Role.DATABASE),)
    assert METHODS["lock"].success == Kind.parse("LockResponse")
    assert METHODS["drop_table"].success is None


def test_types_are_read() -> None:
    assert words_of("map<list<string>,string>") == ["map", "list", "string", "string"]
    kind = Kind.parse("map<list<string>,Table>")
    assert (kind.code, kind.parts[0].parts[0].code, kind.inner.struct) == (13, 11, "Table")
