"""Matches patterns with `*` in linear time. A regular expression could take exponential time."""


def matches(pattern: str, text: str) -> bool:
    """Return whether the pattern matches the whole text; each `*` matches any text, also an empty one."""
    first, *rest = pattern.split("*")
    if not rest:
        return text == pattern
    *middle, last = rest
    if not text.startswith(first):
        return False
    position = len(first)
    for part in middle:
        found = text.find(part, position)
        if found < 0:
            return False
        position = found + len(part)
    return len(text) - len(last) >= position and text.endswith(last)
