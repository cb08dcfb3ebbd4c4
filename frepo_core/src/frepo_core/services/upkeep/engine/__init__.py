"""The worker: one process at a time leads, runs the jobs and delivers the events."""
