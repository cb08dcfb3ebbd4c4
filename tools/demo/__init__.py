"""The demonstration: fills an empty service with realistic data."""

from .fill import Filled, fill

__all__ = ["Filled", "fill"]
