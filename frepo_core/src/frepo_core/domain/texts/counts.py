"""Writes numbers of things for people."""


def counted(number: int, noun: str) -> str:
    """Return a number with a noun whose plural ends in s, such as `1 version` or `2 versions`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
