"""Texts with masked secrets."""

from frepo_core.services.events.masking import Mask


def test_a_long_text_keeps_its_begin_and_its_end():
    masked = Mask()("Traceback: " + "x" * 5000 + "RuntimeError: no paint")

    assert masked.startswith("Traceback: xxx")
    assert masked.endswith("xxxRuntimeError: no paint")
    assert 1000 == len(masked)
