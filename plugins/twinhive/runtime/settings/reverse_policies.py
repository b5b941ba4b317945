"""Make the policy of the opposite direction from a policy that says `failover.reverse`."""

from collections.abc import Iterable, Iterator

from twinhive.runtime.settings.failover_settings import ReverseSettings
from twinhive.runtime.settings.policies import ExternalSettings, PolicySettings
from twinhive.runtime.settings.read_configuration import PolicyEntry
from twinhive.runtime.settings.value_kinds import is_policy_name

SUFFIX = "_back"


def with_reverses(entries: Iterable[PolicyEntry]) -> Iterator[PolicyEntry]:
    """Yield all policies, each followed by that of the opposite direction where it asks for one.

    What is wrong with the file is wrong with both: the one that replicates now may be this one.
    """
    for entry in entries:
        yield entry
        if entry.settings is None or (reverse := entry.settings.failover.reverse) is None:
            continue
        turned = _turned(entry.settings, reverse)
        if is_policy_name(turned.policy):
            yield PolicyEntry(turned.policy, entry.path, turned, entry.error, reverse_of=entry.name)


def _turned(settings: PolicySettings, reverse: ReverseSettings) -> PolicySettings:
    """Return the same policy the other way round; external tables return to where they came from.

    What names a side is not taken over: the command that keeps writers away from the one would be run for the other.
    """
    return settings.model_copy(
        update={
            "policy": f"{settings.policy}{SUFFIX}",
            "source": settings.replica,
            "replica": settings.source,
            "dump_root": reverse.dump_root,
            "staging_root": reverse.staging_root,
            "external_tables": _returned(settings.external_tables),
            "announced_tables": (),
            "failover": settings.failover.model_copy(
                update={
                    "close_command": reverse.close_command,
                    "open_command": reverse.open_command,
                    "reverse": None,
                }
            ),
        }
    )


def _returned(said: ExternalSettings) -> ExternalSettings:
    return said.model_copy(update={"base_directory": said.return_from, "return_from": said.base_directory})
