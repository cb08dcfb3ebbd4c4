"""The process that encodes needs less than 128 MiB, whatever the sizes, also of two contents that share nothing."""

import hashlib
import random
from pathlib import Path

import pytest

from frepo_core.features.compact import encoder_process
from frepo_core.features.compact.encoder.tasks import ObjectFile, Task
from frepo_core.features.compact.encoder_process import EncoderProcess
from support.scale import IS_BIG

SIZE = (2 << 30) if IS_BIG else (16 << 20)
PIECE = 4 << 20


def write(path, seed):
    chance, sha256 = random.Random(seed), hashlib.sha256()
    with path.open("wb") as file:
        for _ in range(SIZE // PIECE):
            piece = chance.randbytes(PIECE)
            sha256.update(piece)
            file.write(piece)
    return ObjectFile(path=str(path), encoding="raw", digest=sha256.hexdigest())


@pytest.mark.costly
def test_the_process_needs_little_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(encoder_process, "SHARE", 1)
    one, other = write(tmp_path / "one", 1), write(tmp_path / "other", 2)
    task = Task(content=[one], size=SIZE, base=[other], base_size=SIZE, target=str(tmp_path / "target"), rate=0)

    with EncoderProcess() as process:
        outcome = process.encode(task, lambda: None)
        status = Path(f"/proc/{process._process.pid}/status").read_text()

    most = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))
    assert "raw" == outcome.codec
    assert most < 128 << 10
