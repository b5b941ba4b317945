"""Tables of remotes as clients are told of them, and what keeps their files."""
