"""SIGTERM, SIGHUP and Ctrl-C: they end the client, but not while it starts a program, which nobody would end then."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from typing import Any


class _Interrupts:
    """Whether an interrupt has to wait, and whether one does."""

    is_held = False
    is_waiting = False


def handle_signals() -> None:
    """Raise `KeyboardInterrupt` for SIGTERM and a lost terminal, too, so that stages and sessions are ended."""
    for number in (signal.SIGTERM, signal.SIGINT, getattr(signal, "SIGHUP", signal.SIGTERM)):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as nohup has it
            signal.signal(number, _end)


def _end(*_: Any) -> None:
    if _Interrupts.is_held:
        _Interrupts.is_waiting = True
    else:
        raise KeyboardInterrupt


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Raise an interrupt that arrives meanwhile only at the end. This is for what takes a moment."""
    was_held, _Interrupts.is_held = _Interrupts.is_held, True
    try:
        yield
    finally:
        _Interrupts.is_held = was_held
        if _Interrupts.is_waiting and not was_held:
            _Interrupts.is_waiting = False
            raise KeyboardInterrupt
