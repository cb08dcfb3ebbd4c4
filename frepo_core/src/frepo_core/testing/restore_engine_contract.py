"""What frepo expects of an engine of restore tests, as tests that the engine's own tests inherit."""

import io
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from frepo_core.plugins import NotDecided, NotRestored, RestoreEngine, RestoreSource


class RestoreEngineContract:
    """Inherit it, and override the fixtures. The engine runs without a box here."""

    @pytest.fixture
    def engine(self) -> RestoreEngine:
        """Return the engine."""
        raise NotImplementedError("Override the fixture `engine` of the contract of engines")

    @pytest.fixture
    def content(self) -> bytes:
        """Return a content that can be restored, with something in it that may become empty."""
        raise NotImplementedError("Override the fixture `content` of the contract of engines")

    @pytest.fixture
    def damaged(self) -> bytes:
        """Return a content of the same kind that does not load."""
        raise NotImplementedError("Override the fixture `damaged` of the contract of engines")

    @pytest.fixture
    def question(self) -> tuple[str, Any]:
        """Return a question about the content, and its answer."""
        raise NotImplementedError("Override the fixture `question` of the contract of engines")

    @pytest.fixture
    def version(self) -> str:
        """Return the version of the engine; by default there is none."""
        return ""

    @pytest.fixture
    def source(self, tmp_path: Path, version: str) -> Callable[[bytes], RestoreSource]:
        """Return a function that makes the source of a content."""

        def make(content: bytes) -> RestoreSource:
            file = io.BufferedReader(io.BytesIO(content))
            return RestoreSource(content=file, packed=file, name="dump", version=version, folder=tmp_path)

        return make

    def test_a_content_is_restored_and_asked(
        self,
        engine: RestoreEngine,
        source: Callable[[bytes], RestoreSource],
        content: bytes,
        question: tuple[str, Any],
    ) -> None:
        """The copy runs until the context is left."""
        text, answer = question
        with engine.restore(source(content)) as copy:
            tables: Mapping[str, bool] = copy.tables()
            assert isinstance(copy.note, str)
            if engine.language:
                assert answer == copy.ask(text)
                with pytest.raises(ValueError, match=r"."):
                    copy.ask("this is no question")

        assert any(tables.values()) or not engine.language

    def test_a_damaged_content_is_not_restored(
        self, engine: RestoreEngine, source: Callable[[bytes], RestoreSource], damaged: bytes
    ) -> None:
        """`NotRestored` says why: that condemns the version."""
        with pytest.raises(NotRestored) as caught, engine.restore(source(damaged)):
            pass

        assert str(caught.value).strip()

    @pytest.mark.parametrize("content", [b"", b"\x00\x01\x02 something else \xff" * 99])
    def test_what_is_something_else_is_not_decided(
        self, engine: RestoreEngine, source: Callable[[bytes], RestoreSource], content: bytes
    ) -> None:
        """An engine that was chosen by mistake condemns nothing."""
        with pytest.raises(NotDecided) as caught, engine.restore(source(content)):
            pass

        assert str(caught.value).strip()
