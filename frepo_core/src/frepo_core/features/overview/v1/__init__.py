"""The endpoints of the overview."""
