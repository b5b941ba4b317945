"""Who may be reached as a remote: what `remotes.yaml` allows, and nothing else."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from twinhive.core.model.errors import Refused
from twinhive.core.model.next_steps import command
from twinhive.core.model.remotes.definitions import REMOTES_FILE
from twinhive.core.model.remotes.wildcards import matches

CALLER = "caller"


@dataclass(frozen=True)
class Allowed:
    """One rule: a connector, the addresses that it may connect to (`*` for any characters), and as whom.

    `user` is None for whoever calls.
    """

    connector: str
    addresses: tuple[str, ...]
    user: str | None = None

    def covers(self, connector: str, addresses: Sequence[str]) -> bool:
        """True when all of the addresses are allowed by this rule."""
        return self.connector == connector and all(
            any(matches(pattern, address) for pattern in self.addresses) for address in addresses
        )


@dataclass(frozen=True)
class Access:
    """All rules, in their order, and the directory that key files are in; None where no key file may be read.

    unknown  why a cluster is not among the rules: its connection cannot be used
    """

    rules: tuple[Allowed, ...] = ()
    key_directory: Path | None = None
    unknown: tuple[str, ...] = ()

    def rule_for(self, name: object, connector: str, addresses: Sequence[str]) -> Allowed:
        """Return the first rule that allows it all. Raises Refused when there is none."""
        found = next((rule for rule in self.rules if addresses and rule.covers(connector, addresses)), None)
        if found is None:
            allowed = "; ".join(f"{rule.connector} to {', '.join(rule.addresses)}" for rule in self.rules)
            raise Refused(
                f"remote {name} may not be reached",
                found="; ".join((f"connector {connector} to {', '.join(addresses) or 'no address'}", *self.unknown)),
                expected=f"what {REMOTES_FILE} allows: {allowed or 'nothing'}",
                next_step=f"whoever runs the gateway adds it to {REMOTES_FILE} (docs/remotes.md); see what holds with: "
                + command("twinhive", "remotes"),
            )
        return found

    def key_file(self, name: str) -> Path:
        """Return the path of a key file that a definition names. Raises Refused for anything but a name there."""
        directory = self.key_directory
        if directory is None or not name or Path(name).name != name or name in (".", ".."):
            raise _no_key_file(name, directory)
        path = directory / name
        if not path.is_file() or path.resolve().parent != directory.resolve():
            raise _no_key_file(name, directory)
        return path


def _no_key_file(name: str, directory: Path | None) -> Refused:
    return Refused(
        f"key file {name!r} may not be read",
        found="no key_directory" if directory is None else "no file of this name there, or a path",
        expected=f"the name of a file in key_directory of {REMOTES_FILE}, without a path",
        next_step=f"put the file there, and write its name alone; key_directory is set in {REMOTES_FILE}",
    )
