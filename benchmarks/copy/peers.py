"""The peer: Hadoop's DistCp on YARN, with as many maps as we have threads, and no limit of bandwidth."""

from collections.abc import Sequence

from sandbox import Sandbox
from sandbox.hadoop.distcp import UNLIMITED, DistCpRun, run_distcp

# Its job's files are on the target's cluster, as they are where DistCp pulls.
_CLUSTER = "west"
_MOST_LISTING_THREADS = 40


def copy_tree(box: Sandbox, source_uri: str, target_uri: str, maps: int, options: Sequence[str] = ()) -> DistCpRun:
    """Make the target equal to the source; `options` are further ones of DistCp."""
    listing = ["-numListstatusThreads", str(min(maps, _MOST_LISTING_THREADS))]
    run = run_distcp(box, _CLUSTER, [*UNLIMITED, *listing, *options, source_uri, target_uri], maps=maps)
    if run.code != 0:
        raise SystemExit(f"DistCp ended with code {run.code}, see {run.log}")
    return run
