"""A metastore gateway: clients see the local metastore, and remotes under local names (seed 004)."""
