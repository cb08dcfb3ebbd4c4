"""Runs of backup jobs, as clients report them: recording, listing, and what follows for versions."""
