"""Resolve the keys of a statement: its WITH, the policy's `hive_conf`, what the policy says elsewhere, the defaults."""

from collections.abc import Sequence

from twinhive.runtime.settings.hive_key_table import StatementKind
from twinhive.runtime.settings.hive_keys import resolve
from twinhive.runtime.settings.repl_settings import ReplSettings
from twinhive.statements.execution.statement_cluster import StatementPlace


def keys_of(place: StatementPlace, said: Sequence[tuple[str, str]], kind: StatementKind) -> ReplSettings:
    """Return the settings of a statement. Raises InvalidSettings."""
    policy = place.settings
    if policy is None:
        return resolve(said, {}, kind)
    return resolve(said, policy.hive_conf, kind, place.defaults())
