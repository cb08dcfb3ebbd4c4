"""Recognizes clients that speak TLS: they would wait for their handshake until the connection times out."""

# The type of the first record of a connection (RFC 8446, 5.1). No request begins with it.
HANDSHAKE = b"\x16"
WARNING = (
    "A client speaks TLS, but this port takes plain HTTP: %(about)s. Use http:// there, or TLS at the proxy only. "
    "Since the last such line %(count)d connections were closed"
)
