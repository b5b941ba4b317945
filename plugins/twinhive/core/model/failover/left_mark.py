"""What a source's database says once a replica has taken over from it: no other replica of it may do so as well."""

from collections.abc import Mapping
from dataclasses import dataclass

LEFT_FOR = "twinhive.left.for"


@dataclass(frozen=True)
class LeftMark:
    """Whose replica has taken over from a database, as this says: `<policy>:<cluster>/<database>`."""

    policy: str
    replica: str

    def __str__(self) -> str:
        return f"{self.policy}:{self.replica}"

    @classmethod
    def read(cls, parameters: Mapping[str, str]) -> "LeftMark | None":
        """Return what a database says of it; None for nothing. A text of another form is taken for a policy's name."""
        policy, _, replica = parameters.get(LEFT_FOR, "").partition(":")
        return cls(policy, replica or "a replica of it") if policy else None
