"""Run REPL statements from their texts: the command line and Airflow do it by these."""

from twinhive.repl.clusters import StatementPlace
from twinhive.repl.planning import plan_statement
from twinhive.repl.running import Answer, run_statement
from twinhive.repl.spark_copies import SparkOf

__all__ = ["Answer", "SparkOf", "StatementPlace", "plan_statement", "run_statement"]
