"""Run REPL statements from their texts: the command line and Airflow do it by these."""

from twinhive.statements.running.planning import plan_statement
from twinhive.statements.running.running import run_statement
from twinhive.statements.running.spark_copies import CopiesBySpark, SparkOf
from twinhive.statements.running.statement_cluster import StatementPlace
from twinhive.statements.running.statement_results import Answer

__all__ = ["Answer", "CopiesBySpark", "SparkOf", "StatementPlace", "plan_statement", "run_statement"]
