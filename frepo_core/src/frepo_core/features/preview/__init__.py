"""Previews of what a strategy keeps."""
