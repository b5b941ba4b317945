"""Change the policy in the middle (REPLACE), and rename tables over its edges: one table of cases."""

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from tests.support.users.source_writer import SourceWriter
from tests.support.worlds.memory_comparison import contents
from tests.support.worlds.repl_world import EVERYTHING, ReplWorld, Scope
from twinhive.core.model.errors import ActNow, InvalidSettings

ALL: Scope = (EVERYTHING, ())
LETTERS: Scope = (("[a-z]+",), ())
LETTERS_AND_Q5: Scope = (("[a-z]+", "Q5"), ())
NO_Q: Scope = (EVERYTHING, (r"q\d+",))
NO_TABLES: Scope = ((), ())


@dataclass(frozen=True)
class Case:
    """What users do between two dumps, while the policy changes (or stays); what the replica has at the end."""

    name: str
    old: Scope
    new: Scope
    users: Callable[[SourceWriter], object] = lambda users: None
    there: set[str] = field(default_factory=set)
    gone: set[str] = field(default_factory=set)


def several(*steps: Callable[[SourceWriter], object]) -> Callable[[SourceWriter], object]:
    def do(users: SourceWriter) -> None:
        for step in steps:
            step(users)

    return do


def rename(old: str, new: str) -> Callable[[SourceWriter], object]:
    return lambda users: users.rename_table(old, new)


def insert(table: str) -> Callable[[SourceWriter], object]:
    return lambda users: users.insert(table, None, [b"more"])


def create(table: str) -> Callable[[SourceWriter], object]:
    return lambda users: users.create_table(table, files=[b"made"])


def drop(table: str) -> Callable[[SourceWriter], object]:
    return lambda users: users.drop_table(table)


CASES = (
    # The policy changes.
    Case("what is newly excluded is dropped", ALL, LETTERS, gone={"q5", "t3"}, there={"plain"}),
    Case("with events on it", ALL, LETTERS, several(insert("q5"), drop("t3")), gone={"q5", "t3"}),
    Case("what is newly included comes whole", LETTERS, LETTERS_AND_Q5, there={"q5"}, gone={"t3"}),
    Case(
        "with events on it, of which none is applied twice", LETTERS, ALL, several(insert("q5"), insert("q5")), {"q5"}
    ),
    Case("made meanwhile", LETTERS, ALL, create("q6"), {"q5", "q6"}),
    Case("dropped meanwhile", LETTERS, ALL, drop("q5"), {"t3"}, {"q5"}),
    Case("made and dropped meanwhile", LETTERS, ALL, several(create("q6"), drop("q6")), {"q5"}, {"q6"}),
    Case("everything to nothing but functions", ALL, NO_TABLES, gone={"plain", "q5"}),
    Case("nothing to everything", NO_TABLES, ALL, there={"plain", "q5", "orders"}),
    Case("disjoint scopes", LETTERS, ((r"q\d+",), ()), insert("q5"), {"q5"}, {"plain"}),
    # A rename and a change of the policy.
    Case("from both to newly included", LETTERS, ALL, rename("plain", "q6"), {"q5", "q6"}, {"plain"}),
    Case("from both to newly excluded", ALL, LETTERS, rename("plain", "q6"), gone={"plain", "q6"}),
    Case("from newly excluded to both", ALL, LETTERS, rename("q5", "five"), {"five"}, {"q5"}),
    Case("from newly included to both", LETTERS, ALL, rename("q5", "five"), {"five"}, {"q5"}),
    Case("from newly included to newly included", LETTERS, ALL, rename("q5", "q6"), {"q6"}, {"q5"}),
    Case("from both to both", ALL, LETTERS, rename("plain", "plainer"), {"plainer"}, {"plain"}),
    Case(
        "swapped over the edge", ALL, LETTERS, several(rename("plain", "x1"), rename("q5", "plain")), {"plain"}, {"x1"}
    ),
    # The policy stays.
    Case("renamed within", LETTERS, LETTERS, rename("plain", "plainer"), {"plainer"}, {"plain"}),
    Case("renamed out", LETTERS, LETTERS, rename("plain", "q6"), gone={"plain", "q6"}),
    Case("renamed in", LETTERS, LETTERS, rename("q5", "five"), {"five"}, {"q5"}),
    Case("renamed in, with later rows", LETTERS, LETTERS, several(rename("q5", "five"), insert("five")), {"five"}),
    Case(
        "in and out again", LETTERS, LETTERS, several(rename("q5", "five"), rename("five", "q5")), gone={"five", "q5"}
    ),
    Case("out and in again", LETTERS, LETTERS, several(rename("plain", "q6"), rename("q6", "plain")), {"plain"}),
    Case("out, in by another name", LETTERS, LETTERS, several(rename("plain", "q6"), rename("q6", "back")), {"back"}),
    Case("in, then dropped", LETTERS, LETTERS, several(rename("q5", "five"), drop("five")), gone={"five", "q5"}),
    Case(
        "a chain through the scope",
        LETTERS,
        LETTERS,
        several(rename("q5", "one"), rename("one", "two"), rename("two", "q7"), rename("q7", "three")),
        {"three"},
        {"one", "two", "q5", "q7"},
    ),
    Case(
        "in, in the place of one that was dropped",
        LETTERS,
        LETTERS,
        several(drop("plain"), rename("q5", "plain"), insert("plain")),
        {"plain"},
    ),
    Case("an excluded name", NO_Q, NO_Q, several(rename("plain", "q9"), rename("q5", "fives")), {"fives"}, {"plain"}),
)


@pytest.fixture
def repl() -> ReplWorld:
    repl = ReplWorld()
    repl.users.create_table("q5", files=[b"five"])
    repl.users.create_table("t3", files=[b"three"])
    return repl


@pytest.mark.thorough
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_replica_has_what_the_new_scope_selects_as_the_source_has_it(repl: ReplWorld, case: Case) -> None:
    repl.load(repl.dump(scope=case.old), scope=case.old)
    case.users(repl.users)
    replaces = case.old if case.old != case.new else None
    dumped = repl.dump(repl.status(), scope=case.new, replaces=replaces)
    repl.load(dumped, scope=case.new)
    selected = repl.policy(case.new)
    source = contents(repl.world.source, repl.world.source_files)
    wanted = {name: table for name, table in source.items() if selected.selects(name.partition(".")[2])}
    assert contents(repl.world.replica, repl.world.replica_files) == wanted
    assert case.there <= set(repl.tables())
    assert not case.gone & set(repl.tables())
    assert repl.status() == dumped.last_event


def test_the_next_dump_goes_on_with_the_new_policy(repl: ReplWorld) -> None:
    repl.load(repl.dump(scope=LETTERS), scope=LETTERS)
    repl.load(repl.dump(repl.status(), scope=ALL, replaces=LETTERS), scope=ALL)
    repl.users.insert("q5", None, [b"more"])
    repl.load(repl.dump(repl.status(), scope=ALL), scope=ALL)
    assert contents(repl.world.replica, repl.world.replica_files) == contents(
        repl.world.source, repl.world.source_files
    )


def test_a_change_of_the_policy_without_any_event_is_loaded(repl: ReplWorld) -> None:
    repl.load(repl.dump(scope=LETTERS), scope=LETTERS)
    position = repl.status()
    dumped = repl.dump(position, scope=ALL, replaces=LETTERS)
    repl.load(dumped, scope=ALL)
    assert "q5" in repl.tables()
    assert repl.load(dumped, scope=ALL).already


def test_replace_of_another_policy_than_the_replicas_is_refused(repl: ReplWorld) -> None:
    repl.load(repl.dump(scope=ALL))
    repl.users.create_table("made")
    dumped = repl.dump(repl.status(), scope=LETTERS_AND_Q5, replaces=LETTERS)
    with pytest.raises(ActNow, match="another policy"):
        repl.load(dumped, scope=LETTERS_AND_Q5)
    assert "t3" in repl.tables()


def test_tables_that_come_whole_need_the_newest_event(repl: ReplWorld) -> None:
    repl.load(repl.dump(scope=LETTERS), scope=LETTERS)
    repl.users.create_table("made")
    with pytest.raises(InvalidSettings, match="REPLACE brings tables"):
        repl.dump(repl.status(), scope=ALL, replaces=LETTERS, limit=1)


def test_a_limited_dump_ends_before_a_rename_into_the_scope(repl: ReplWorld) -> None:
    repl.load(repl.dump(scope=LETTERS), scope=LETTERS)
    repl.users.create_table("made")
    before = repl.world.source.current_event_id()
    repl.users.rename_table("q5", "five")
    rename = repl.world.source.current_event_id()
    dumped = repl.dump(repl.status(), scope=LETTERS, limit=10)
    assert dumped.last_event == before
    repl.users.create_table("later")
    repl.log.clear()
    assert repl.dump(repl.status(), scope=LETTERS, to_event=rename + 1).last_event == before
    (why,) = (line for line in repl.log if "the dump ends" in line)
    assert why == f"event {rename} brings a table into the scope: the dump ends before it, at event {before}"
    with pytest.raises(InvalidSettings, match="brings a table into the scope"):
        repl.dump(before, scope=LETTERS, limit=10)


def test_a_table_of_somebody_else_outside_the_scope_is_left_alone(repl: ReplWorld) -> None:
    repl.load(repl.dump(scope=ALL))
    (plain,) = repl.world.replica.tables("sales", ["plain"])
    foreign = type(plain.name)("sales", "q99")
    repl.world.replica.create_table(plain.at(foreign, "hdfs://west/elsewhere").with_parameters({}))
    repl.load(repl.dump(repl.status(), scope=LETTERS, replaces=ALL), scope=LETTERS)
    assert "q99" in repl.tables() and "t3" not in repl.tables()


def test_a_table_of_a_lost_file_comes_back_whole_when_it_is_left_out_and_taken_in_again(repl: ReplWorld) -> None:
    without_plain: Scope = (EVERYTHING, ("plain",))
    repl.load(repl.dump())
    repl.users.insert("plain", None, [b"more"])
    repl.users.create_table("made", files=[b"one"])
    files = repl.world.source_files
    more = next(path for path in files.paths() if "/plain/" in path and files.read(path) == b"more")
    files.put(more, b"MORE")
    with pytest.raises(ActNow, match="files were not copied"):
        repl.load(repl.dump(repl.status()))
    repl.load(repl.dump(repl.status(), scope=without_plain, replaces=ALL), scope=without_plain)
    assert "plain" not in repl.tables() and "made" in repl.tables()
    repl.load(repl.dump(repl.status(), scope=ALL, replaces=without_plain))
    assert contents(repl.world.replica, repl.world.replica_files) == contents(repl.world.source, files)
