"""Run Airflow's four components until one of them ends.

Does what `airflow standalone` does, and besides listens on loopback only: standalone's log servers listen everywhere.
"""

import signal
import subprocess
import sys
import time

COMPONENTS = (
    ["api-server"],
    ["scheduler", "--skip-serve-logs"],
    ["dag-processor"],
    ["triggerer", "--skip-serve-logs"],
)


def main() -> int:
    """Migrate the database, run the components, and end them all together."""
    # An ignored SIGINT, as shells give to background jobs, would be inherited by every component.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if subprocess.run([sys.executable, "-m", "airflow", "db", "migrate"], check=False).returncode:
        return 1
    components = [subprocess.Popen([sys.executable, "-m", "airflow", *arguments]) for arguments in COMPONENTS]
    try:
        while all(component.poll() is None for component in components):
            time.sleep(0.5)
    except KeyboardInterrupt:
        return 0
    finally:
        for component in components:
            component.terminate()
        for component in components:
            component.wait()
    ended = [COMPONENTS[number][0] for number, component in enumerate(components) if component.returncode]
    print(f"ended unasked: {', '.join(ended)}", flush=True)
    return 1


if __name__ == "__main__":
    sys.exit(main())
