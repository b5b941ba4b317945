"""When a copy that runs has moved something last."""

from dataclasses import dataclass


@dataclass(frozen=True)
class CopyAtWork:
    """One try of a task that copies. Times are seconds since 1970.

    label   what it copies, for people
    began   when the task began
    moved   when it was last heard to go on, `began` before that
    """

    policy: str
    dag_id: str
    run_id: str
    task_id: str
    map_index: int
    try_number: int
    label: str
    began: float
    moved: float

    def stands(self, at: float) -> float:
        """Return for how many seconds it has moved nothing."""
        return max(0.0, at - self.moved)

    @property
    def task(self) -> str:
        """Name the task as people see it in a grid."""
        return self.task_id if self.map_index < 0 else f"{self.task_id}[{self.map_index}]"
