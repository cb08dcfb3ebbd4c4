"""The error of a message that could not be sent."""


class NotDelivered(Exception):
    """A target did not accept a message; it is sent again later.

    The message has no secrets, because the service logs and stores it.
    """
