"""The policies of plug-ins about uploads, deletions and downloads of versions."""
