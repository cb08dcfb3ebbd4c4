"""Reports that prove to others what was backed up, restored and deleted."""
