"""Run REPL statements from their texts: the command line and Airflow do it by these."""

from twinhive.statements.running.answers import Answer
from twinhive.statements.running.clusters import StatementPlace
from twinhive.statements.running.planning import plan_statement
from twinhive.statements.running.running import run_statement
from twinhive.statements.running.spark_copies import CopiesBySpark, SparkOf

__all__ = ["Answer", "CopiesBySpark", "SparkOf", "StatementPlace", "plan_statement", "run_statement"]
