"""Operators for DAGs of one's own: sets of partitions, statements, writing many partitions."""

from twinhive.surfaces.airflow.operators.cluster_sql_operator import ClusterSqlOperator
from twinhive.surfaces.airflow.operators.set_operators import MarkSetDoneOperator, UnmarkSetOperator
from twinhive.surfaces.airflow.operators.statement_operator import ReplStatementOperator
from twinhive.surfaces.airflow.operators.write_partitions_operator import WritePartitionsOperator

__all__ = [
    "ClusterSqlOperator",
    "MarkSetDoneOperator",
    "ReplStatementOperator",
    "UnmarkSetOperator",
    "WritePartitionsOperator",
]
