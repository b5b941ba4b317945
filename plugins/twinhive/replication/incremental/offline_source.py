"""Stand for a source that nobody asks: it may be gone for good."""

from dataclasses import replace
from typing import Any, TypeVar, cast

from twinhive.core.model.errors import ActNow
from twinhive.core.model.next_steps import command
from twinhive.core.model.policy import Policy
from twinhive.core.ports import FileReader, FileWriter, MetastoreReader, ReadPorts

Some = TypeVar("Some", bound=ReadPorts)


def without_source(ports: Some, policy: Policy, log_id: str) -> Some:
    """Return ports that ask nothing of the source, nor of where its dumps lie; `log_id` is what the replica says of it.

    What they are asked all the same raises ActNow.
    """
    return replace(
        ports,
        source=cast(MetastoreReader, _Silent(policy, log_id=log_id)),
        source_files=cast(FileReader, _Silent(policy, root=f"{policy.source.cluster}:")),
        dump_files=cast(FileWriter, ports.replica_files),
    )


class _Silent:
    """Answer what is known beforehand; whatever else is asked is refused, with the name of the question."""

    def __init__(self, policy: Policy, **known: str) -> None:
        self._policy = policy
        self._known = known

    @property
    def root(self) -> str:
        return self._known["root"]

    def log_id(self) -> str:
        return self._known["log_id"]

    def __getattr__(self, question: str) -> Any:
        if question.startswith("__"):
            raise AttributeError(question)

        def refuse(*_: object, **__: object) -> Any:
            raise ActNow(
                f"this needs the source {self._policy.source}, which is not asked any more",
                found=f"the question {question}",
                expected="all of it in staging",
                next_step="where the source answers: "
                + command("twinhive", "run", self._policy.name, "incremental")
                + "; else take over without it",
            )

        return refuse
