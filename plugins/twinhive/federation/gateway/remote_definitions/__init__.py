"""How a gateway knows which remotes the local metastore defines: read over its own wire, and remembered."""
