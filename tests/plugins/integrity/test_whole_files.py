"""Whole files of many programs are never called broken: a thousand of them in the long form, some fifty each night.

Programs that are not installed are left out; `apt-get install pigz pbzip2 lbzip2 pixz 7zip php-cli` adds
most.
"""

import itertools
import random
import shutil
import subprocess

import pytest

from support.compressors import COMPRESSORS, rows, streamed_zip_of, tar_of, zip_of
from support.scale import IS_BIG

WANTED = 1000 if IS_BIG else 50

# Programs that read stdin and write stdout.
FILTERS = {
    "gzip": "gzip -1|gzip -6n|pigz|pigz -p4 -b128|busybox gzip|7zz a -tgzip -si -so -an",
    "bzip2": "bzip2 -1|pbzip2 -p2 -1|lbzip2 -n2|busybox bzip2|7zz a -tbzip2 -si -so -an",
    "xz": "xz -0|xz --check=crc32|xz --x86 --lzma2|xz -T4 --block-size=64KiB|pixz -t|7zz a -txz -si -so -an",
    "zstd": "zstd -q -1|zstd -q --fast=5|zstd -q -17|zstd -q --rsyncable -T2|zstd -q --adapt",
    "lz4": "lz4 -q -12|lz4 -q -B5 -BD|lz4 -q --content-size|lz4 -q --favor-decSpeed -12",
}
# Left out, because gzip and unzip refuse them as well: `HeaderCRC => 1` of Perl's IO::Compress writes a wrong checksum,
# and `zip -fz -` into a pipe no zip64 record.
# Programs that write the folder with `a` and `b/c` to stdout.
ARCHIVERS = {
    "tar": "tar -c a b|tar -c --format=v7 a b|tar -c --format=pax a b|tar -c -b1 a b|tar -cS a b|bsdtar -c a b|"
    "bsdtar -c --format=ustar a b|busybox tar -c a b|7zz a -ttar -so -an a b|git archive --format=tar HEAD",
    "zip": "zip -q -r - a b|zip -q -0 -r - a b|jar c a b|jar c0 a b|bsdtar -c --format=zip a b|"
    "git archive --format=zip HEAD",
    "gzip": "tar -cz a b|bsdtar -cz a b|git archive --format=tar.gz HEAD",
    "xz": "tar -cJ a b|bsdtar -cJ a b",
    "zstd": "tar -c --zstd a b",
    "bzip2": "tar -cj a b",
}
SCRIPTS = {
    "gzip": [
        ["perl", "-MIO::Compress::Gzip=gzip", "-e", "gzip '-' => '-', Name => 'a'"],
        ["php", "-r", "echo gzencode(file_get_contents('php://stdin'), 9);"],
        ["node", "-e", "process.stdin.pipe(require('zlib').createGzip()).pipe(process.stdout)"],
    ],
    "bzip2": [["perl", "-MIO::Compress::Bzip2=bzip2", "-e", "bzip2 '-' => '-'"]],
    "zip": [["perl", "-MIO::Compress::Zip=zip", "-e", "zip '-' => '-', Name => 'a'"]],
}


def programs(table):
    for kind, commands in table.items():
        for command in commands if isinstance(commands, list) else commands.split("|"):
            words = command if isinstance(command, list) else command.split()
            if shutil.which(words[0]):
                yield kind, words


def filtered(words, data, folder):
    return subprocess.run(words, input=data, cwd=folder, stdout=subprocess.PIPE, check=True).stdout


def archived(words, data, folder):
    (folder / "b").mkdir(exist_ok=True)
    (folder / "a").write_bytes(data)
    (folder / "b/c").write_bytes(data[: len(data) // 3])
    if words[0] == "git":
        git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org"]
        for step in (["init", "-q"], ["add", "a", "b"], ["commit", "-q", "--allow-empty", "-m", "a"]):
            subprocess.run([*git, *step], cwd=folder, check=True, capture_output=True)
    return subprocess.run(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout


def makers():
    """Yield the kind, a name, and a function that makes a file of a content in a folder."""
    for kind, ways in COMPRESSORS.items():
        for way, make in ways.items():
            yield kind, way, lambda data, folder, make=make: make(data)
    yield "zip", "zipfile", lambda data, folder: zip_of(data)
    yield "zip", "zipfile to a pipe", lambda data, folder: streamed_zip_of(data)
    yield "tar", "tarfile", lambda data, folder: tar_of(data)
    for table, make in ((FILTERS, filtered), (SCRIPTS, filtered), (ARCHIVERS, archived)):
        for kind, words in programs(table):
            yield kind, " ".join(words), lambda data, folder, words=words, make=make: make(words, data, folder)


def contents():
    """Yield contents of all sizes: text, random bytes, zeros."""
    chance = random.Random(42)
    for seed in itertools.count():
        yield rows(chance.randrange(100, 200_000), seed=seed)
        yield chance.randbytes(chance.randrange(1, 300_000))
        yield bytes(chance.randrange(1, 1_000_000))
        yield rows(chance.randrange(100, 3000), seed=seed) + chance.randbytes(chance.randrange(1, 70_000))
        yield chance.randbytes(3)


@pytest.mark.slow
@pytest.mark.costly  # in the short form, test_writers.py has a stored file of each program
def test_a_whole_file_is_never_called_broken(check, check_quickly, tmp_path):
    ways, given = list(makers()), contents()
    if not IS_BIG:
        random.Random(1).shuffle(ways)
    wrong, made = [], 0
    while made < WANTED:
        data = next(given)
        for kind, way, make in ways[: WANTED - made]:
            folder = tmp_path / str(made)
            folder.mkdir()
            content = make(data, folder)
            made += 1
            shutil.rmtree(folder)
            report, quick = check(content), check_quickly(content)
            if (report.kinds[:1], getattr(report, "outcome", "broken")) != ((kind,), "good"):
                wrong.append((way, len(data), str(report)))
            if getattr(quick, "outcome", "broken") not in {"pending", "good"}:
                wrong.append((way, len(data), str(quick)))

    assert [] == wrong
    assert WANTED == made
