"""Apply events to the replica, in their order, each so that it can be repeated."""
