"""Builds what a release publishes: `python -m release build/release`, see CONTRIBUTING.md."""
