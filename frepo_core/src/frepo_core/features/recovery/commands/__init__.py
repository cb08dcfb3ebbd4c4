"""The command that recovers a lost database."""
