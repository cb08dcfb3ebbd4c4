"""restic, whose decisions the strategy `keep` has."""
