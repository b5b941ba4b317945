"""How remotes are reached: metastores by TCP or SSH, and catalogs that are answered for as a metastore would."""
