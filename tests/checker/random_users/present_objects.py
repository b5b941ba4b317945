"""Look what there is at this moment to do something to."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tests.checker.occupied_directories import Places
from tests.checker.random_users.statement import FIRST
from tests.checker.states import DatabaseState, TableState, Values

if TYPE_CHECKING:
    from tests.checker.random_users.writers import Crowd


class Looking:
    """See the database as it is, and draw lots."""

    def __init__(self, crowd: "Crowd") -> None:
        self.crowd = crowd
        self.random = crowd.random
        self.users = crowd.users
        self.state: DatabaseState = crowd.recorder.there
        self.tables: dict[str, TableState] = {
            name: table for name, table in self.state.tables if table.kind == "MANAGED_TABLE"
        }

    def _one(self, choices: Sequence[Any]) -> Any:
        return self.random.choice(choices) if choices else None

    def _free_name(self, names: Sequence[str]) -> str | None:
        taken, places = dict(self.state.tables), self._places()
        return self._one([name for name in names if name not in taken and not self._users_of(name, places)])

    def _places(self) -> Places:
        return Places.of(self.users.metastore, self.users.database)

    def _users_of(self, name: str, places: Places) -> set[str]:
        """Return the tables that lie where Hive puts one of that name."""
        return places.users(self.users.default_location(name))

    def _free_table(self) -> str | None:
        return self._free_name(self.crowd.names)

    def _partitioned(self) -> str | None:
        return self._one([name for name, table in self.tables.items() if table.keys])

    def _partitions(self, table: str) -> list[Values]:
        return [values for values, _ in self.tables[table].partitions]

    def _object(self) -> tuple[str, Values | None] | None:
        name = self._one(list(self.tables))
        if name is None or not self.tables[name].keys:
            return name and (name, None)
        values = self._one(self._partitions(name))
        return values and (name, values)

    def _contents(self, most: int = 2) -> dict[str, bytes]:
        number = self.random.choice([0, 1, 1, most])
        # What was moved away from leaves its files behind, which nobody writes over.
        writer = f"_{self.crowd.fresh()}" if self.crowd.moves else ""
        return {f"{index:06d}_0{writer}": self.crowd.content() for index in range(number)}

    def _made(self) -> dict[str, bytes]:
        """Return the files of a table or partition that is made; some lie deeper, as UNION ALL leaves them."""
        files = self._contents()
        if self.crowd.nests and self.random.random() < 0.2:
            directory = f"HIVE_UNION_SUBDIR_{self.crowd.fresh() if self.crowd.moves else 1}"
            files[f"{directory}/000000_0"] = self.crowd.content()
        return files

    def _new_files(self, table: str, values: Values | None) -> dict[str, bytes]:
        """Name files as Hive does, which never overwrites one in an INSERT INTO."""
        taken = self.crowd.taken.setdefault((table, values), set())
        taken |= {entry.path.rpartition("/")[2] for entry in self._listed(table, values)}
        names = [name for name in (FIRST, *(f"{FIRST}_copy_{number}" for number in range(1, 60))) if name not in taken]
        chosen = names[: self.random.randint(1, 3)]
        taken.update(chosen)
        return {name: self.crowd.content() for name in chosen}

    def _listed(self, table: str, values: Values | None) -> Iterator[Any]:
        ((_, found),) = self.users.files.list_directories([self.users.location(table, values)])
        yield from found or ()

    def _keys(self) -> tuple[str, ...]:
        return self.random.choice([(), ("p",), ("p",)])

    def _some(self, choices: Sequence[Any], most: int = 3) -> list[Any]:
        return self.random.sample(choices, min(len(choices), self.random.randint(1, most)))
