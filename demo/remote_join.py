"""Join a table of east with remotes that west has, in Spark SQL through a gateway.

Run as a program: `python -m demo.remote_join 9093` prints each statement and its rows.
"""

import os
import sys

from demo.names import DATABASE
from demo.spark_sql import print_rows
from sandbox import Sandbox
from sandbox.spark import spark_conf, spark_submit_environment

REMOTE, CARRIERS = "west_flights", "default.west_airlines"
STATEMENTS = (
    f"SHOW TABLES IN {REMOTE}",
    f"SELECT c.name, count(*) AS flights, round(avg(p.seats)) AS seats FROM {REMOTE}.flights f "
    f"JOIN {CARRIERS} c ON f.carrier = c.carrier JOIN {DATABASE}.planes p ON f.tailnum = p.tailnum "
    "GROUP BY c.name ORDER BY flights DESC LIMIT 5",
    f"SELECT count(*) FROM {REMOTE}.flights WHERE month = 12 AND day = 25",
)


def main(port: int) -> int:
    """Ask, as a reader on east would."""
    cluster = Sandbox.open().clusters["east"]
    os.environ.update(spark_submit_environment(cluster))
    print_rows("a join of two metastores", spark_conf(cluster), f"thrift://127.0.0.1:{port}", STATEMENTS)
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
