"""Run REPL statements from their texts: the command line and Airflow do it by these."""

from twinhive.statements.execution.planning import plan_statement
from twinhive.statements.execution.spark_copies import CopiesBySpark, SparkOf
from twinhive.statements.execution.statement_cluster import StatementPlace
from twinhive.statements.execution.statement_results import Answer
from twinhive.statements.execution.statement_runner import run_statement

__all__ = ["Answer", "CopiesBySpark", "SparkOf", "StatementPlace", "plan_statement", "run_statement"]
