"""Take jobs instead of Spark, and keep them."""

from collections.abc import Callable
from typing import Any


class KeptJob:
    """A job that was given; once it ran, with its settings as `parse` reads them."""

    settings: Any

    def __init__(self, kept: list["KeptJob"], parse: Callable[[str], Any], job: tuple[Any, ...]) -> None:
        self.job, self._parse = job, parse
        kept.append(self)

    def run(self, text: str, say: Any) -> None:
        """Read the settings, and do nothing."""
        self.settings = self._parse(text)


def keeping(kept: list[KeptJob], parse: Callable[[str], Any]) -> Callable[..., KeptJob]:
    """Return what stands for the class of jobs."""
    return lambda *job: KeptJob(kept, parse, job)
