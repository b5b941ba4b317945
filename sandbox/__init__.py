"""Run two real Hive clusters, `east` and `west`, on this machine."""

from sandbox.box import Sandbox
from sandbox.cluster import Cluster

__all__ = ["Cluster", "Sandbox"]
