import re
import time

from hypothesis import example, given
from hypothesis import strategies as st

from frepo_core.domain.wildcards import matches

TEXTS = st.text("ab", max_size=12)


@given(pattern=st.text("ab*", max_size=8), text=TEXTS)
@example(pattern="ab*ba", text="aba")
@example(pattern="*", text="")
@example(pattern="**", text="a")
def test_a_star_stands_for_any_text(pattern, text):
    expression = ".*".join(re.escape(piece) for piece in pattern.split("*"))

    assert matches(pattern, text) == (re.fullmatch(expression, text, re.DOTALL) is not None)


def test_long_patterns_take_linear_time():
    for pattern in ["*a" * 250 + "*b", "a*" * 250 + "b", "*" * 500 + "b", "*" + "a" * 400 + "b*"]:
        started = time.thread_time()

        assert matches(pattern, "a" * 1_000_000) is False
        assert time.thread_time() - started < 2
