"""A scope without some of its tables: what a replica between two scopes has for certain."""

from tests.support.builders import a_policy
from twinhive.core.model.scopes.scope_texts import scope_without
from twinhive.statements.language import parse_scope


def test_it_selects_all_but_these() -> None:
    scope = parse_scope(scope_without(a_policy(include=("p.*",), exclude=("px",)), ["porders", "p.a", "p-b"]))
    assert [name for name in ("plain", "porders", "px", "p.a", "pxa", "p-b") if scope.selects(name)] == ["plain", "pxa"]


def test_of_too_many_for_a_parameter_no_statement_can_say_it_and_it_is_told_from_others() -> None:
    names = [f"table_{number:04}" for number in range(1000)]
    texts = {scope_without(a_policy(), names), scope_without(a_policy(), names[1:])}
    assert len(texts) == 2
    assert all(text.startswith("* ") and len(text) < 100 for text in texts)
