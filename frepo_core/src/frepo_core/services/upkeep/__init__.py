"""Upkeep: the jobs by which a service verifies, sweeps and cleans up itself."""
