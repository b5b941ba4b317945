"""The DAGs of all policies, `<policy>.<phase>` and `<policy>.operate`; `twinhive.monitor`, `twinhive.sql`.

Airflow passes over files that do not name Airflow.
"""

import os
from pathlib import Path

from twinhive.dags import replication_dags

_here = Path(__file__).resolve().parent
globals().update(replication_dags(config=Path(os.environ.get("TWINHIVE_CONFIG") or _here), project=_here.parent))
