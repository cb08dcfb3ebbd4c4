"""The journal and the catalogues: what the database knows, written into the storages next to the blobs."""
