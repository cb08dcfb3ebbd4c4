"""The one record of where the bytes of contents are, and the one gate through which they are deleted."""
