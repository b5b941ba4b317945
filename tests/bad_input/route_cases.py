"""What may be wrong where statements are routed: which text is meant, whose metastore, which cluster, the SQL."""

from tests.bad_input.case import Case

_EAST = ("--metastore", "east")

ROUTE_CASES: tuple[Case, ...] = (
    Case("route: no statement", ("route",), ("neither a text nor a file",)),
    Case("route: a text and a file", ("route", "select 1", "--file", "x.sql"), ("both a text and a file",)),
    Case(
        "route: a file that is not there", ("route", "--file", "nowhere.sql", *_EAST), ("nowhere.sql cannot be read",)
    ),
    Case("route: which of two metastores", ("route", "select 1"), ("whose metastore knows the tables", "--metastore")),
    Case("route: no such metastore", ("route", "select 1", "--metastore", "n"), ("there is no cluster n",)),
    Case("route: no such cluster", ("route", "use cluster west; select 1", *_EAST), ("there is no cluster west",)),
    Case("route: no such cluster, and nothing after it", ("route", "use cluster west", *_EAST), ("no cluster west",)),
    Case(
        "route: no such cluster, and back at once",
        ("route", "use cluster west; use cluster; select 1", *_EAST),
        ("there is no cluster west",),
    ),
    Case("route: a name of another catalog", ("route", "use other.sales; select 1", *_EAST), ("other.sales",)),
    Case("route: a variable", ("route", "select '${day}'", *_EAST), ("${day} stands for something",)),
    Case(
        "route: a table of the session alone",
        ("route", "create temporary table t as select 1; select * from t", *_EAST),
        ("where t is cannot be told", "temporary"),
    ),
    Case("route: an open text", ("route", "select 'a", *_EAST), ("cannot be cut into statements",)),
    Case("route: no SQL", ("route", "hello", *_EAST), ("the statement cannot be routed", "hello")),
    Case("route: a statement that may drop anything", ("route", "drop database x cascade", *_EAST), ("does not name",)),
    Case(
        "route: a directory is written", ("route", "insert overwrite directory '/x' select 1", *_EAST), ("directory",)
    ),
)
