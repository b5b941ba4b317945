"""Be the users of a source: writers who do random things at the same time, paused between any two calls.

They keep the locks that Hive keeps: nobody drops or renames what another one writes to, nobody overwrites
what another one appends to.
"""

from dataclasses import dataclass, field
from random import Random
from typing import Any

from tests.checker.interleaving import Pausable, pause
from tests.checker.random_users.statement import ELSEWHERE, NAMES, ODD_NAMES, OTHERS, Lock, Statement
from tests.checker.random_users.statement_choice import Statements
from tests.checker.recorded_source import RecordedFiles, RecordedSource
from tests.checker.set_judge import MarkedSets
from tests.checker.timeline import Recorder
from tests.support.users.source_writer import SourceMetastore, SourceWriter
from twinhive.core.model.errors import TwinhiveError
from twinhive.core.ports import FileWriter


class _Paused:
    """Pass calls on, with a pause before each one that changes something."""

    CHANGES = (
        *("create_table", "drop_table", "alter_table", "add_partitions", "drop_partitions", "alter_partition"),
        *("alter_partitions", "rename_partition", "exchange_partitions", "truncate_table", "fire_insert"),
        *("recycle", "set_database_parameters", "write", "delete", "set_statistics", "add_constraints"),
        "drop_constraint",
    )

    def __init__(self, port: Any) -> None:
        self._port = port

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._port, name)
        if name not in self.CHANGES:
            return value

        def call(*args: Any, **kwargs: Any) -> Any:
            pause()
            return value(*args, **kwargs)

        return call


@dataclass
class Crowd:
    """Hold the writers of one database. Of a thousand steps, so many `deaths` end with their writer's.

    With `has_keys` tables refer to each other. With `is_odd` they do what few users do: names that look like paths,
    views with partitions, renames out of the database, statistics of partitions, columns of another type. With `nests`
    some files lie deeper in the directories of what is made. With `crosses` tables and views are renamed between this
    database, `elsewhere` and `beyond`; with `moves` tables and partitions get other locations. With `marks` sets are
    said to be done, and not to be done any more, at any moment.
    """

    random: Random
    metastore: SourceMetastore
    files: FileWriter
    database: str
    statements: int
    writers: int = 2
    deaths: int = 0
    has_keys: bool = False
    is_odd: bool = False
    nests: bool = False
    crosses: bool = False
    moves: bool = False
    marks: bool = False
    log: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.names = ODD_NAMES if self.is_odd else NAMES
        for other in OTHERS if self.crosses else (ELSEWHERE,) if self.is_odd else ():
            if self.metastore.database(other) is None:
                SourceWriter.with_database(self.metastore, self.files, other)
        self.recorder = Recorder(self.metastore, self.files, self.database)
        self.sets = MarkedSets(self.recorder.timeline)
        if self.marks:
            self.sets.look(self.recorder.there, self.recorder.tables)
            self.recorder.followers.append(self.sets)
        source: Any = _Paused(RecordedSource(self.metastore, self.recorder, self.sets if self.marks else None))
        files: Any = _Paused(RecordedFiles(self.files, self.recorder))
        self.users = SourceWriter(source, files, self.database)
        self.others = {other: SourceWriter(source, files, other) for other in OTHERS if self.crosses}
        self._running: list[tuple[Statement, Pausable]] = []
        self.taken: dict[Lock, set[str]] = {}
        self._number = 0
        self._contents = 0

    @property
    def is_busy(self) -> bool:
        """True while statements are left over, or under way."""
        return bool(self.statements or self._running)

    def tick(self) -> None:
        """Let one writer go one step on."""
        if self.statements and len(self._running) < self.writers and self.random.random() < 0.6:
            self._begin()
        elif self._running:
            self._step(self.random.choice(self._running))

    def run(self, statements: int) -> None:
        """Let some statements be done now, beside those that are to come."""
        left, self.statements = self.statements, statements
        while self.is_busy:
            self.tick()
        self.statements = left

    def finish(self) -> None:
        """Do all that is left over."""
        while self.is_busy:
            self.tick()

    def _begin(self) -> None:
        self.statements -= 1
        if not self._running:
            self.taken.clear()
        for _ in range(10):
            statement = Statements(self).choose()
            if statement and not any(statement.conflicts(other) for other, _ in self._running):
                self.log.append(f"{statement.what} begins")
                running = (statement, Pausable(statement.run, statement.what))
                self._running.append(running)
                self._step(running)
                return

    def _step(self, running: tuple[Statement, Pausable]) -> None:
        statement, writer = running
        # One that dies in an overwrite has removed files without a word: that is for the scan to find.
        if self.random.randrange(1000) < self.deaths and not statement.what.startswith("overwrite"):
            self.log.append(f"{statement.what}: its writer dies")
            writer.abandon()
        else:
            writer.step()
        if writer.ended:
            self._running.remove(running)
            if writer.error is not None and not isinstance(writer.error, TwinhiveError):
                raise writer.error
            outcome = f"refused: {str(writer.error).splitlines()[0]}" if writer.error else "done"
            self.log.append(f"{statement.what}: {outcome} at event {self.recorder.timeline.newest.event_id}")

    def content(self) -> bytes:
        """Return the content of a new file; sometimes one that another file had."""
        if not self._contents or self.random.random() < 0.85:
            self._contents += 1
            return f"rows {self._contents}\n".encode() * self.random.randint(1, 3)
        return f"rows {self.random.randint(1, self._contents)}\n".encode()

    def fresh(self) -> str:
        """Return a value that nobody had."""
        self._number += 1
        return str(self._number)
