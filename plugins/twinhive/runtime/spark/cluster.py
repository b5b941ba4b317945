"""On which Spark a copy runs, and how much of it it may use."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from twinhive.core.model.errors import InvalidSettings

_MASTER = re.compile(r"local(\[.+\])?|yarn|spark://.+|k8s://.+")
_MOST_TASKS = 10_000
_DEPLOY_MODE = "spark.submit.deployMode"


@dataclass(frozen=True)
class SparkCluster:
    """A master, the number of tasks that run at the same time there, and Spark's own settings."""

    master: str
    tasks: int
    conf: Mapping[str, str]

    @classmethod
    def of(cls, master: str | None, tasks: int, conf: Iterable[tuple[str, str]]) -> "SparkCluster":
        """Check what a person has given. Raises InvalidSettings."""
        settings = dict(conf)
        if master is None or not _MASTER.fullmatch(master):
            raise InvalidSettings(
                "--spark: this is no master of Spark",
                found=repr(master),
                expected="yarn, local[4], spark://host:7077 or k8s://https://host:443",
                next_step="correct --spark, or leave it and --spark-conf out to copy in this process",
            )
        if not 1 <= tasks <= _MOST_TASKS:
            raise InvalidSettings(
                "--tasks: not a number of tasks",
                found=tasks,
                expected=f"1 to {_MOST_TASKS:,}",
                next_step="give as many as cores that the copy should use",
            )
        for key in settings:
            if not key.startswith("spark."):
                raise InvalidSettings(
                    f"--spark-conf: {key!r} is not a setting of Spark",
                    found=f"{key}={settings[key]}",
                    expected="spark.NAME=VALUE",
                    next_step="correct it; a property of Hadoop is given with -D",
                )
        if settings.get(_DEPLOY_MODE, "client") != "client":
            raise InvalidSettings(
                f"--spark-conf: {_DEPLOY_MODE} cannot be {settings[_DEPLOY_MODE]}",
                found=settings[_DEPLOY_MODE],
                expected="client: the driver reads a file of this machine, and ends with this command",
                next_step=f"leave {_DEPLOY_MODE} out",
            )
        return cls(master, tasks, settings)
