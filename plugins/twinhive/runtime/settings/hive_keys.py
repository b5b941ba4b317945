"""Make the settings of a REPL statement: from its `WITH`, else a policy file's `hive_conf`, else the defaults."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches

from twinhive.core.model.errors import InvalidSettings
from twinhive.runtime.settings.hive_key_table import KEYS, StatementKind
from twinhive.runtime.settings.hive_keys_refused import refused
from twinhive.runtime.settings.repl_settings import ReplSettings

PAGE = "docs/hive-keys.md"


@dataclass(frozen=True)
class WrongSetting:
    """What is wrong with a key or its value."""

    found: str
    expected: str
    next_step: str


def resolve(
    statement_settings: Sequence[tuple[str, str]],
    policy_settings: Mapping[str, str],
    statement_kind: StatementKind,
    defaults: ReplSettings | None = None,
) -> ReplSettings:
    """Return how a statement is run. Raises InvalidSettings for a key or a value that cannot be used.

    Keys of the policy file that other statements use count for those. `defaults` are what a policy says elsewhere in
    its file: its options, external tables, staging.
    """
    of_policy = [pair for pair in policy_settings.items() if not _belongs_elsewhere(pair[0], statement_kind)]
    _check(of_policy, "hive_conf of the policy file", None)
    _check(statement_settings, "WITH", statement_kind)
    settings = defaults or ReplSettings()
    for key, value in (*of_policy, *statement_settings):
        settings = _with(settings, key, value)
    return settings


def wrong_setting(key: str, value: str, statement_kind: StatementKind | None = None) -> WrongSetting | None:
    """Return what is wrong with a key, its value, or its use in a statement of this kind; None: nothing."""
    if not (known := KEYS.get(key)):
        return _refusal(key) or _unknown(key)
    if statement_kind and statement_kind not in known.statements:
        theirs = " and ".join(f"REPL {kind.upper()}" for kind in known.statements)
        return WrongSetting(
            f"a key of {theirs}", f"a key that REPL {statement_kind.upper()} uses", f"say it in {theirs}"
        )
    try:
        known.kind.read(value.strip())
    except ValueError:
        return WrongSetting(
            repr(value), known.kind.says.replace("`", ""), f"correct the value; {PAGE} explains the key"
        )
    return None


def _check(settings: Iterable[tuple[str, str]], place: str, statement_kind: StatementKind | None) -> None:
    for key, value in settings:
        if wrong := wrong_setting(key, value, statement_kind):
            raise InvalidSettings(
                f"{key} in {place} cannot be used",
                found=wrong.found,
                expected=wrong.expected,
                next_step=wrong.next_step,
            )


def _belongs_elsewhere(key: str, statement_kind: StatementKind) -> bool:
    return key in KEYS and statement_kind not in KEYS[key].statements


def _refusal(key: str) -> WrongSetting | None:
    if not (why := refused(key)):
        return None
    return WrongSetting(f"a key of Hive that has no use here: {why.reason}", f"a key of {PAGE}", why.instead)


def _unknown(key: str) -> WrongSetting:
    near = get_close_matches(key.lower(), KEYS, 1)
    expected = f"{near[0]}, or another key of {PAGE}" if near else f"a key of {PAGE}"
    return WrongSetting("an unknown key", expected, "correct the key, or leave it out")


def _with(settings: ReplSettings, key: str, value: str) -> ReplSettings:
    known = KEYS[key]
    read = known.kind.read(value.strip())
    part, _, field = known.field.rpartition(".")
    if not part:
        return replace(settings, **{field: read})  # type: ignore[arg-type]
    return replace(settings, **{part: replace(getattr(settings, part), **{field: read})})
