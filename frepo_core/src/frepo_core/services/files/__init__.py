"""Files: upload, download, listing, aliases."""
