"""Compression and encryption of a dump: further stages behind its command."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from ..errors import UsageError

_COMPRESSORS = {"zstd": ["zstd", "-q", "-c"], "gzip": ["gzip", "-c"], "xz": ["xz", "-c"]}


def encoding_stages(compress: str, recipients: Sequence[str], where: str) -> list[list[str]]:
    """Return the stages that compress and encrypt for all recipients. Raises `UsageError`."""
    return [*_compression(compress, where), *_encryption(recipients, where)]


def _compression(text: str, where: str) -> list[list[str]]:
    if text in {"", "none"}:
        return []
    try:
        name, *options = shlex.split(text)
    except ValueError as error:  # a quotation mark without another one
        raise UsageError(f"{where} compress {text!r}: {error}") from None
    if name not in _COMPRESSORS:
        raise UsageError(f"{where} compress {text!r}: write none, {', '.join(sorted(_COMPRESSORS))}, or zstd -9")
    return [[*_COMPRESSORS[name], *options]]


def _encryption(recipients: Sequence[str], where: str) -> list[list[str]]:
    if not recipients:
        return []
    age = [one for one in recipients if one.startswith(("age1", "ssh-"))]
    if age and len(age) != len(recipients):
        raise UsageError(f"{where} encrypt: recipients of age and of gpg cannot be mixed")
    if age:
        return [["age", "--encrypt", *_each("--recipient", recipients)]]
    return [["gpg", "--batch", "--quiet", "--trust-model", "always", "--encrypt", *_each("--recipient", recipients)]]


def _each(option: str, values: Sequence[str]) -> list[str]:
    return [word for value in values for word in (option, value)]
