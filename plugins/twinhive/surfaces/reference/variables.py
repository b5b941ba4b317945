"""List the environment variables that the package reads."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Variable:
    """One variable: who reads it, what it means."""

    name: str
    read_by: str
    meaning: str


VARIABLES = (
    Variable(
        "TWINHIVE_CONFIG",
        "DAG file, `twinhive`",
        "the configuration directory. Set it alike for every component of Airflow that parses or runs DAGs (the "
        "triggerer does not need it)",
    ),
    Variable(
        "AIRFLOW_CONN_<ID>", "Airflow, `twinhive`", "connections, see [Connections](#connections); the id in capitals"
    ),
    Variable(
        "TWINHIVE_CONNECTIONS",
        "`twinhive`",
        "`airflow`: connections come from wherever Airflow has them, as with `--airflow`; without it, from "
        "`AIRFLOW_CONN_<ID>` alone",
    ),
    Variable(
        "JAVA_HOME", "tasks, executors, `twinhive`, the sandbox", "Java 17 or newer; without it, `java` on `PATH`"
    ),
    Variable(
        "SPARK_HOME",
        "tasks, executors, `twinhive`",
        "a Spark distribution, for `spark-submit` and for Hadoop's jars; without it, the installed package `pyspark`",
    ),
    Variable(
        "TWINHIVE_JOURNAL",
        "tasks, the page",
        "where the history for people is kept: an SQLAlchemy URL such as `postgresql+psycopg2://user@host/twinhive`, "
        "or `airflow://<connection>`, a connection of Airflow of the type postgres; without it, the SQLite file "
        "`twinhive-journal.db` in `AIRFLOW_HOME`, which workers on several machines do not share",
    ),
    Variable(
        "TWINHIVE_IDLE_RUNS_PER_MINUTE",
        "DAG file",
        "how many runs that find nothing to do all policies together may start; without it 10, which leaves two "
        "cores half free. With many policies each looks less often by itself; the watcher starts those that have news",
    ),
    Variable("AIRFLOW_HOME", "Airflow, the journal", "Airflow's own directory; without it `~/airflow`"),
    Variable("PYSPARK_PYTHON", "copy tasks", "Python of the executors; without it, the path of the task's own Python"),
    Variable("HADOOP_USER_NAME", "Hadoop's client", "user on file systems for which no user is configured"),
    Variable(
        "HADOOP_CONF_DIR",
        "`twinhive copy`",
        "its `core-site.xml` and `hdfs-site.xml` say what addresses mean that no cluster of `clusters.yaml` has",
    ),
    Variable("NO_COLOR", "`twinhive`", "any text: no colour on a terminal; elsewhere there is none anyway"),
)

BY_OTHERS = frozenset({"AIRFLOW_CONN_<ID>", "HADOOP_USER_NAME", "NO_COLOR"})
"""Variables that libraries read on our behalf, or whose names are made."""


def variables_table() -> str:
    """Return the variables as a table."""
    rows = [f"| `{one.name}` | {one.read_by} | {one.meaning} |" for one in VARIABLES]
    return "\n".join(["| Variable | Read by | Meaning |", "|---|---|---|", *rows])
