"""Upkeep: the jobs by which a service verifies, sweeps and cleans up itself."""

from .jobs import UPKEEP_JOBS, CoreJobs, upkeep_jobs

__all__ = ["UPKEEP_JOBS", "CoreJobs", "upkeep_jobs"]
