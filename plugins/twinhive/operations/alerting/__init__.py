"""Tell people what is wrong with a policy, and that it is well again: what is said, and how it is sent."""
