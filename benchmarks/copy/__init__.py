"""Copy the same files with Twinhive and with Hadoop's DistCp, and count what each costs."""
