"""Stores older versions as the difference to newer ones, in the background: the job `compact`."""
