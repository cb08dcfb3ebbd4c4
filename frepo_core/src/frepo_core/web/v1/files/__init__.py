"""Files and aliases."""
