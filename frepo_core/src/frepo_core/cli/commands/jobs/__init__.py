"""Commands for jobs and the worker."""
