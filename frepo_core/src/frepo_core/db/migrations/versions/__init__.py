"""The revisions, each named by its number and what it adds."""
