"""Become the message broker: `python -m deploy.broker`. Passwords of its two users come by its environment."""

import os

from deploy.addresses import BROKER_PORT, EVERYWHERE
from sandbox.brokers import broker_process
from sandbox.brokers.broker_users import JARS
from sandbox.jvm.jars import BROKER_JAR_LIST, jar_files
from sandbox.paths import cache_root


def main() -> None:
    """Run until it is ended."""
    os.environ[JARS] = os.pathsep.join(map(str, jar_files(cache_root(), BROKER_JAR_LIST)))
    broker_process.main([str(BROKER_PORT), "--host", EVERYWHERE])


if __name__ == "__main__":
    main()
