"""The use cases, the only writers. No Pyramid, no request, no status codes.

`assembly` builds them all. Nothing is imported here, so that who needs one use case waits for no other.
"""
