"""Choose what a user does next."""

from tests.checker.random_users.cross_database_moves import Crossing
from tests.checker.random_users.definitions import DefinitionStatements
from tests.checker.random_users.location_changes import Moving
from tests.checker.random_users.marking import Marking
from tests.checker.random_users.partitions import PartitionStatements
from tests.checker.random_users.rare_statements import OddStatements
from tests.checker.random_users.statement import Choice, Statement
from tests.checker.random_users.tables import TableStatements


class Statements(TableStatements, PartitionStatements, DefinitionStatements, OddStatements):
    """Choose a statement that makes sense at this moment."""

    def choose(self) -> Statement | None:
        """Return a statement, None when the first choice has nothing to be done to."""
        weighted: list[Choice] = [
            (3, self.create_table),
            (1, self.create_view),
            (2, self.drop_table),
            (2, self.rename),
            (1, self.swap),
            (2, self.replace_table),
            (5, self.insert),
            (5, self.overwrite),
            (2, self.truncate),
            (5, self.add_partitions),
            (3, self.drop_partitions),
            (3, self.replace_partition),
            (2, self.rename_partition),
            (2, self.exchange),
            (3, self.set_parameters),
            (1, self.set_owner),
            (2, self.add_columns),
            (2, self.alter_partitions),
            (1, self.database_parameters),
            (1, self.function),
            (8 if self.crowd.has_keys or self.crowd.is_odd else 1, self.details),
        ]
        if self.crowd.is_odd:
            weighted += [(2, self.move_out), (3, self.partitions_of_a_view), (2, self.change_type)]
        weighted += Crossing(self).weighted() if self.crowd.crosses else []
        weighted += Moving(self).weighted() if self.crowd.moves else []
        weighted += Marking(self).weighted() if self.crowd.marks else []
        weights, choices = zip(*weighted, strict=True)
        (choice,) = self.random.choices(choices, weights)
        return choice()
