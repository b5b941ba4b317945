import json

import pytest

from twinhive.core.model.errors import InvalidSettings
from twinhive.transfer.tree.request import LETTERS, USUAL_LETTERS, Deletes, SyncOptions, preserved_letters


def test_the_defaults_delete_nothing_and_fail_on_what_cannot_be_read() -> None:
    options = SyncOptions.of({})

    assert options == SyncOptions()
    assert not options.deletes
    assert options.on_unreadable == "fail"
    assert options.preserve == frozenset()


@pytest.mark.parametrize("letter", LETTERS)
def test_each_of_distcps_letters_can_be_preserved(letter: str) -> None:
    assert letter in preserved_letters(letter)


@pytest.mark.parametrize("letters", ["e", "rbz", "P", "r b", "-"])
def test_an_unknown_letter_is_an_error_that_names_the_letter(letters: str) -> None:
    unknown = next(letter for letter in sorted(letters) if letter not in LETTERS)
    with pytest.raises(InvalidSettings, match=repr(unknown)):
        SyncOptions.of({"preserve": letters})


def test_an_acl_brings_the_permission_along() -> None:
    assert preserved_letters("a") == {"a", "p"}


def test_the_usual_letters_are_distcps() -> None:
    assert preserved_letters(USUAL_LETTERS) == set("rbugpct")


@pytest.mark.parametrize("name", ["trash_days", "bandwidth_mb", "threads", "split_above"])
@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf")])
def test_a_limit_that_is_not_above_zero_is_an_error_that_names_the_option(name: str, value: float) -> None:
    with pytest.raises(InvalidSettings, match=f"{name} must be above zero"):
        SyncOptions.of({name: value})


@pytest.mark.parametrize("name", ["mode", "delete", "on_unreadable", "compare"])
def test_an_unknown_choice_is_an_error_that_names_the_choices(name: str) -> None:
    with pytest.raises(InvalidSettings, match=name) as caught:
        SyncOptions.of({name: "maybe"})

    assert " or " in str(caught.value.expected)


def test_an_unknown_option_is_an_error() -> None:
    with pytest.raises(InvalidSettings, match="speed"):
        SyncOptions.of({"speed": 1})


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"append": True, "mode": "overwrite"}, "append and mode=overwrite"),
        ({"append": True, "compare": "time"}, "append and compare=time"),
        ({"append": True, "atomic": True}, "append and atomic"),
        ({"atomic": True, "delete": "trash"}, "atomic and delete"),
        ({"atomic": True, "on_unreadable": "skip"}, "atomic and on_unreadable=skip"),
    ],
)
def test_options_that_contradict_each_other_are_an_error(given: dict[str, object], named: str) -> None:
    with pytest.raises(InvalidSettings, match=named):
        SyncOptions.of(given)


def test_options_go_through_json_to_another_process() -> None:
    options = SyncOptions.of(
        {
            "mode": "update",
            "delete": Deletes.TRASH,
            "preserve": "rbugp",
            "include": ["a\n"],
            "exclude": ['"', "🐘"],
            "bandwidth_mb": 2.5,
            "staging": "hdfs://west/tmp",
        }
    )

    assert SyncOptions.of(json.loads(json.dumps(options.to_document()))) == options
