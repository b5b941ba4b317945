"""Whatever a person gets wrong is one error that says what, which, found, expected and next, and changes nothing.

The rules are found in the code: those of the models of configuration files, those of command lines, and every place
that makes an error for bad input. A rule without a case is a failure.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.bad_input.case import USAGE, Case
from tests.bad_input.cluster_cases import CONNECTION_CASES, EXTERNAL_CASES, PREFLIGHT_CASES
from tests.bad_input.command_cases import COPY_CASES, NEXT_EVENT, PHASES_CASES, POLICY_CASES, usage_cases
from tests.bad_input.connector_cases import CONNECTOR_CASES
from tests.bad_input.desk import Desk
from tests.bad_input.export_cases import EXPORT_CASES
from tests.bad_input.file_cases import FILE_CASES, cluster_cases, policy_cases
from tests.bad_input.message_cases import MESSAGE_CASES
from tests.bad_input.move_cases import MOVE_CASES
from tests.bad_input.placement_cases import PLACEMENT_CASES, PLACEMENT_STEP_CASES, placement_cases
from tests.bad_input.remote_cases import REMOTE_CASES, REMOTE_COMMAND_CASES
from tests.bad_input.route_cases import ROUTE_CASES
from tests.bad_input.schema_rules import schema_rules
from tests.bad_input.set_cases import SET_CASES
from tests.bad_input.sites import made_errors, reached, sites, turns_of_people
from tests.bad_input.statement_cases import STATEMENT_CASES
from tests.bad_input.step_cases import STEP_CASES
from tests.support.worlds.fake_world import World, a_world
from twinhive.core.model.errors import ActNow
from twinhive.runtime.settings.clusters import ClusterSettings
from twinhive.runtime.settings.placement_rules import PLACEMENT_RULES
from twinhive.runtime.settings.placements import PlacementSettings
from twinhive.runtime.settings.policies import PolicySettings
from twinhive.runtime.settings.policy_conflicts import RULES, UNIQUE
from twinhive.surfaces.cli.app import run
from twinhive.surfaces.cli.exits import EXITS

TESTS = Path(__file__).parents[1]

CASES: tuple[Case, ...] = (
    *policy_cases(),
    *ROUTE_CASES,
    *cluster_cases(),
    *placement_cases(),
    *FILE_CASES,
    *PLACEMENT_CASES,
    *MOVE_CASES,
    *CONNECTION_CASES,
    *usage_cases(),
    *PHASES_CASES,
    *POLICY_CASES,
    *COPY_CASES,
    *PREFLIGHT_CASES,
    *EXTERNAL_CASES,
    *STATEMENT_CASES,
    *EXPORT_CASES,
    *REMOTE_COMMAND_CASES,
    *SET_CASES,
    *MESSAGE_CASES,
)
SEEN: set[tuple[str, int]] = set()
"""Where errors were made by the cases that have run."""


def typed(desk: Desk, case: Case) -> int:
    """Type what a case says; return the exit code."""
    event = str(1 + int(desk.world.replica.database("sales").parameters["repl.last.id"])) if case.follows else ""
    words = [event if word == NEXT_EVENT else word for word in case.words]
    place = ["--config", str(desk.policies.directory)] if words[0] not in ("version", "mend") else []
    return run([*words, *place])


@pytest.mark.parametrize("case", CASES, ids=str)
def test_bad_input_is_one_error_and_changes_nothing(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    desk = Desk(tmp_path, monkeypatch)
    if case.follows:
        desk.terminal.type("run", "sales", "bootstrap")
    case.spoil(desk)
    before = desk.state()
    capsys.readouterr()
    with made_errors() as seen:
        code = typed(desk, case)
    SEEN.update(seen)
    said = capsys.readouterr().err
    assert code == case.code and case.code in EXITS, said
    assert all(part in said for part in case.says), said
    assert "Traceback" not in said
    if case.code == USAGE:
        assert said.count("Error: ") == 1 and "Try 'twinhive" in said, said
    else:
        assert said.count("error (") == 1 or said.count("error in policy") == 1, said
    if case.code not in (USAGE, 3):
        assert all(part in said for part in ("found:", "expected:", "next:")), said
    assert desk.state() == before


BEHIND = (*STEP_CASES, *PLACEMENT_STEP_CASES, *CONNECTOR_CASES, *REMOTE_CASES)


@pytest.mark.parametrize(("call", "says"), [case[1:] for case in BEHIND], ids=[case[0] for case in BEHIND])
def test_what_no_command_line_reaches_is_refused_as_well(call: Callable[[World], object], says: str) -> None:
    with made_errors() as seen, pytest.raises(ActNow) as caught:
        call(a_world())
    SEEN.update(seen)
    said = str(caught.value)
    assert says in said
    assert all(part in said for part in ("found:", "expected:", "next:")), said


def test_every_rule_between_files_has_a_case() -> None:
    """The rules of models and of command lines have theirs by how the cases are made."""
    assert {rule.__name__ for rule in (*RULES, *UNIQUE, *PLACEMENT_RULES)} <= {case.rule for case in CASES}


def test_every_rule_of_a_file_is_broken_by_a_case() -> None:
    broken = {case.rule for case in CASES}
    rules = [("policy", PolicySettings), ("cluster", ClusterSettings), ("placement", PlacementSettings)]
    assert {f"{what} {rule}" for what, model in rules for rule in schema_rules(model)} <= broken


_ROUNDS = "unit/replication/bootstrap/test_consolidate.py::test_rounds_that_lead_nowhere_end_with_what_to_do"
COVERED = {"leads nowhere": _ROUNDS}
"""Places that take a long history to reach: what they say, and the test that does."""


def test_every_place_that_refuses_input_has_a_case() -> None:
    """Runs after the cases: it looks at what they have reached."""
    if len(SEEN) < 40:
        pytest.skip("the cases have not run")
    missing = [site for site in sites() if not reached(site, SEEN)]
    uncovered = [site for site in missing if not any(part in site.what for part in COVERED)]
    assert not uncovered, "\n".join(["no case reaches:", *map(str, uncovered)])
    for part, test in COVERED.items():
        assert any(part in site.what for site in missing), f"a case reaches {part!r} now"
        path, _, name = test.partition("::")
        assert f"def {name}(" in (TESTS / path).read_text(encoding="utf-8")


def test_every_error_for_a_person_says_what_was_found_what_is_expected_and_what_comes_next() -> None:
    assert {str(site): site.lacks for site in turns_of_people() if site.lacks} == {}
