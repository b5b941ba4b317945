"""Name the table that an event cannot be applied to, and freeze it when the policy says so."""

from collections.abc import Callable, Iterable

from twinhive.core.model.changes.affected_objects import tables_of
from twinhive.core.model.errors import ActNow, TwinhiveError, Unexplained, may_pass
from twinhive.core.model.objects import Parameters
from twinhive.core.model.policy import Policy
from twinhive.core.model.quarantine import is_frozen, with_frozen
from twinhive.replication.apply.actions import Action
from twinhive.replication.apply.apply_progress import Progress

_LONGEST_REASON = 400
IsFinal = Callable[[TwinhiveError], bool]
"""Says of an error whether nothing is gained by another try (`Quarantine.is_final`)."""


class StopBefore(ActNow):
    """An event that is never applied by itself, whatever the policy says of errors."""


class ObjectTrouble(ActNow):
    """An event cannot be applied to its table; the position stays before it."""

    @classmethod
    def of(cls, error: ActNow, action: Action) -> "ObjectTrouble":
        """Say with an error which event it was."""
        kind = UnexplainedTrouble if isinstance(error, Unexplained) else cls
        events = ", ".join(str(event) for event in action.events[:3]) + (" and more" if len(action.events) > 3 else "")
        trouble = kind(
            f"event {events}: " + error.what, found=error.found, expected=error.expected, next_step=error.next_step
        )
        trouble.may_still_happen = error.may_still_happen
        return trouble


class UnexplainedTrouble(ObjectTrouble, Unexplained):
    """The same, for an answer that nobody knows."""


def why_done_without(error: TwinhiveError, is_final: IsFinal) -> str:
    """Return why the replica does without a constraint or statistics, which stops nothing. Raises what may pass."""
    if not is_final(error):
        raise error
    return error.words.what


def tables_touched(policy: Policy, action: Action) -> set[str]:
    """Return the tables of the policy that an action concerns: a rename one or two, a database or a function none."""
    return policy.followed(name for event in action.events for name in tables_of(event.change))


def trouble_table(policy: Policy, action: Action) -> str | None:
    """Return the one table that an action concerns, None for a database, a function, or a rename within the scope."""
    names = tables_touched(policy, action)
    return names.pop() if len(names) == 1 else None


class Quarantine:
    """Keep the tables that are frozen, as parameters of the replica's database.

    No table is frozen for an answer that nobody knows before the last try of the work, nor for an error of another kind
    than `freezes`.
    """

    def __init__(
        self, policy: Policy, progress: Progress, *, is_last_try: bool = True, freezes: type[ActNow] = ActNow
    ) -> None:
        self._policy = policy
        self._progress = progress
        self._is_last_try = is_last_try
        self._freezes = freezes

    @property
    def parameters(self) -> Parameters:
        """The parameters of the replica's database."""
        return self._progress.parameters

    def frozen(self, tables: Iterable[str]) -> str | None:
        """Return one of the tables that is frozen, None when none is."""
        return next((table for table in tables if is_frozen(self._progress.parameters, table)), None)

    def accepts(self, error: ActNow) -> bool:
        """True when the table of this error is to be frozen while the rest goes on."""
        if isinstance(error, StopBefore) or not isinstance(error, self._freezes) or not self.is_final(error):
            return False
        return self._policy.options.on_object_error == "quarantine"

    def is_final(self, error: TwinhiveError) -> bool:
        """True when nothing is gained by another try, and what was called does not happen yet."""
        return not (error.may_still_happen or may_pass(error, is_last_try=self._is_last_try))

    def freeze(self, table: str, error: ActNow) -> None:
        """Freeze a table as it is now."""
        self._mark(table, " ".join(str(error).split())[:_LONGEST_REASON])

    def spread(self, tables: Iterable[str], frozen: str, action: Action) -> None:
        """Freeze the other name of a rename that is passed over: nothing can tell any more what belongs there."""
        for table in tables:
            if self.frozen([table]) is None:
                self._mark(table, f"renamed from or to {frozen}, which was frozen, by event {action.events[0]}")

    def _mark(self, table: str, reason: str) -> None:
        self._progress.set_parameters(with_frozen(self._progress.parameters, table, reason))
