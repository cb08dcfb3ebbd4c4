"""Patterns with `*`, matched in linear time: a regular expression would try every way to divide the text."""


def matches(pattern: str, text: str) -> bool:
    """Return whether the whole text fits the pattern; each `*` stands for any text, also an empty one."""
    first, *rest = pattern.split("*")
    if not rest:
        return text == pattern
    *middle, last = rest
    if not text.startswith(first):
        return False
    position = len(first)
    for piece in middle:
        found = text.find(piece, position)
        if found < 0:
            return False
        position = found + len(piece)
    return len(text) - len(last) >= position and text.endswith(last)
