"""The set of containers of docker-compose.yml: its image, its configuration files, and what its containers run."""
