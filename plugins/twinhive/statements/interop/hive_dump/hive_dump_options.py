"""Under which terms a dump of ours is written for Hive."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from twinhive.core.model.objects import Function
from twinhive.core.model.policy import Policy

AskFunctionFiles = Callable[[Function], Mapping[str, str] | str]

_ALL, _NONE = ".*", "(?!)"


@dataclass(frozen=True)
class Terms:
    """What Hive's loader is told beside the objects.

    policy         whose tables are in the dump
    cmroot         directory of the source's change manager, where files are that are not at their paths any more
    scope_changed  the policy was another one before: Hive drops what it does not select
    function_files  where the content of each file of a function is, by the URI that the function names, as far as
                    it is on the source's file system; or why the function is left out
    """

    policy: Policy
    cmroot: str
    function_files: AskFunctionFiles
    scope_changed: bool = False

    @property
    def patterns(self) -> tuple[str | None, str | None]:
        """Return Hive's one pattern of tables, None for all, and its one pattern of those left out."""
        include, exclude = _one_pattern(self.policy.include), _one_pattern(self.policy.exclude)
        if self.policy.exclude:
            return include, exclude
        return (None if include == _ALL else include), None


def _one_pattern(patterns: tuple[str, ...]) -> str:
    if len(patterns) == 1:
        return patterns[0]
    return "|".join(f"(?:{pattern})" for pattern in patterns) or _NONE
