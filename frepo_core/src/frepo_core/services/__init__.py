"""The use cases: all writes to the database and the storage happen here. No Pyramid, no request, no status codes.

`container` builds all services. This module imports nothing, so importing one use case stays cheap.
"""
