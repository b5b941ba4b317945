"""The command of a next step is found, and nothing around it."""

import pytest

from twinhive.page.commands import command_in


@pytest.mark.parametrize(
    ("sentence", "command"),
    [
        ("bring it over as it is now with: twinhive resync sales orders", "twinhive resync sales orders"),
        ("correct sales.yaml, then clear this task; check with: twinhive check sales", "twinhive check sales"),
        (
            "pass it over with: twinhive skip-event sales 4711 --reason '...'; then resync the table",
            "twinhive skip-event sales 4711 --reason '...'",
        ),
        ("go on with twinhive pause sales --off, then clear window", "twinhive pause sales --off"),
        ("use the version of twinhive that wrote it, then clear the task", None),
        ("drop it, then clear load", None),
        ("add it: airflow connections add north --conn-uri ...", "airflow connections add north --conn-uri ..."),
        (None, None),
    ],
)
def test_a_command_is_found_by_itself(sentence: str | None, command: str | None) -> None:
    assert command_in(sentence) == command
