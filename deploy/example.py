"""Load the database that policy `flights` replicates into cluster east: `python -m deploy.example`."""

from demo.load_flights import load
from deploy.settings import cluster


def main() -> None:
    """Load it unless it is there."""
    load(cluster("east"))


if __name__ == "__main__":
    main()
