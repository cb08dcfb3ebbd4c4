"""The health checks, their runs and the report."""

from .report import Health, HealthReport

__all__ = ["Health", "HealthReport"]
