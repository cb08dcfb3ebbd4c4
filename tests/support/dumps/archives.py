"""Archives, compressions, images of disks, and encrypted files, of a folder with half a megabyte."""

import gzip
import shutil
from collections.abc import Iterator
from pathlib import Path

from .programs import NOISE, run
from .sample import Sample


def make_tree(folder: Path) -> Path:
    """Make a folder `files` in this folder."""
    tree = folder / "files"
    (tree / "sub").mkdir(parents=True)
    (tree / "noise.bin").write_bytes(NOISE)
    (tree / "sub/text.txt").write_text("a line of text\n" * 200)
    (tree / "empty").touch()
    return tree


def archive_samples(folder: Path) -> Iterator[tuple[str, Sample]]:
    """Yield archives."""
    tree = make_tree(folder)
    names = b"noise.bin\nsub\nsub/text.txt\nempty\n"
    yield "tar", Sample(content=run("tar", "-c", ".", folder=tree), file_name="files.tar")
    yield "`bsdtar`", Sample(content=run("bsdtar", "-c", ".", folder=tree), file_name="files.tar")
    run("zip", "-q", "-r", str(folder / "a.zip"), ".", folder=tree)
    yield "zip", Sample(content=(folder / "a.zip").read_bytes(), file_name="files.zip")
    yield "`zip -r -`", Sample(content=run("zip", "-q", "-r", "-", ".", folder=tree), file_name="files.zip")
    run("zip", "-q", "-0", "-P", "secret", "-r", str(folder / "e.zip"), ".", folder=tree)
    yield "zip, encrypted", Sample(content=(folder / "e.zip").read_bytes(), file_name="files.zip")
    run("7zz", "a", str(folder / "a.7z"), ".", folder=tree)
    yield "7z", Sample(content=(folder / "a.7z").read_bytes(), file_name="files.7z")
    run("7zz", "a", "-psecret", "-mhe=on", str(folder / "e.7z"), ".", folder=tree)
    yield "7z, encrypted", Sample(content=(folder / "e.7z").read_bytes(), file_name="files.7z")
    for form in ("odc", "newc", "crc"):
        made = run("cpio", "--quiet", "-o", "-H", form, folder=tree, data=names)
        yield f"cpio, {form}", Sample(content=made, file_name="files.cpio")
    run("mksquashfs", str(tree), str(folder / "a.sqsh"), "-quiet", "-no-progress")
    yield "squashfs", Sample(content=(folder / "a.sqsh").read_bytes(), file_name="files.squashfs")
    yield from _bundles(folder, tree)


def _bundles(folder: Path, tree: Path) -> Iterator[tuple[str, Sample]]:
    git = ["git", "-c", "user.name=A", "-c", "user.email=a@example.org"]
    for form in ("sha1", "sha256"):
        repository = folder / form
        shutil.copytree(tree, repository)
        run("git", "init", "-q", f"--object-format={form}", folder=repository)
        run(*git, "add", ".", folder=repository)
        run(*git, "commit", "-q", "-m", "all", folder=repository)
        made = run("git", "bundle", "create", "-q", "-", "--all", folder=repository)
        yield f"`git bundle`, {form}", Sample(content=made, file_name="files.bundle")


def gitlab_sample(folder: Path, dump: bytes) -> Sample:
    """Return an archive like that of `gitlab-backup create`, with this dump of the database."""
    tree = make_tree(folder)
    (folder / "db").mkdir()
    (folder / "repositories").mkdir()
    (folder / "repositories/shop.bundle").write_bytes(NOISE[:20_000])
    (folder / "backup_information.yml").write_text(
        ":db_version: '20261101'\n:gitlab_version: 17.5.1\n:tar_version: tar\n"
    )
    (folder / "uploads.tar.gz").write_bytes(run("tar", "-cz", ".", folder=tree))

    def pack(database: bytes) -> bytes:
        (folder / "db/database.sql.gz").write_bytes(database)
        words = ["backup_information.yml", "db", "repositories", "uploads.tar.gz"]
        return run("tar", "-c", *words, folder=folder)

    killed = [pack(gzip.compress(dump[: len(dump) * tenth // 10], 1)) for tenth in range(1, 10)]
    killed += [pack(gzip.compress(dump, 1)[:-2000])]
    return Sample(content=pack(gzip.compress(dump, 1)), file_name="gitlab.tar", killed=killed)


def image_samples(folder: Path) -> Iterator[tuple[str, Sample]]:
    """Yield images of disks. `qemu-img` writes into files only, so that a killed one leaves no cut image."""
    raw = folder / "raw"
    raw.write_bytes(bytes(1 << 20) + NOISE + bytes(3 << 20) + NOISE[::-1] + bytes(1 << 20))
    for name, options in {"qcow2": [], "qcow2, compressed": ["-c"], "qcow2, version 2": ["-o", "compat=0.10"]}.items():
        run("qemu-img", "convert", "-O", "qcow2", *options, str(raw), str(folder / "image"))
        yield name, Sample(content=(folder / "image").read_bytes(), file_name="disk.qcow2")
    run("qemu-img", "snapshot", "-c", "first", str(folder / "image"))
    with_snapshot = (folder / "image").read_bytes()
    yield "qcow2 with a snapshot", Sample(content=with_snapshot, file_name="disk.qcow2", is_listed=False)
    run("qemu-img", "create", "-q", "-f", "qcow2", str(folder / "new"), "1G")  # its size is no multiple of a sector
    new = (folder / "new").read_bytes()
    yield "qcow2, new", Sample(content=new, file_name="disk.qcow2", is_listed=False)
    yield "flat image of a disk", Sample(content=raw.read_bytes(), file_name="disk.img", has_end=False)


def encrypted_samples(folder: Path) -> Iterator[tuple[str, Sample]]:
    """Yield encrypted files. Where the program that encrypts is the last one, its end is that of the file."""
    folder.chmod(0o700)
    words = ["gpg", "--homedir", str(folder), "--batch", "--pinentry-mode", "loopback", "--passphrase", "secret"]
    words += ["--s2k-count", "1024", "--symmetric"]
    binary, armor = run(*words, data=NOISE), run(*words, "--armor", data=NOISE)
    run("gpgconf", "--homedir", str(folder), "--kill", "gpg-agent")
    yield "OpenPGP", Sample(content=binary, file_name="shop.sql.gpg", killed=None)
    yield "OpenPGP, armor", Sample(content=armor, file_name="shop.sql.gpg", killed=None)
    run("age-keygen", "-o", "key", folder=folder)
    recipient = run("age-keygen", "-y", "key", folder=folder).decode().strip()
    made = run("age", "-r", recipient, data=NOISE)
    armored = run("age", "--armor", "-r", recipient, data=NOISE)
    yield "age, armor", Sample(content=armored, file_name="shop.sql.age", killed=None)
    yield "age", Sample(content=made, file_name="shop.sql.age", has_end=False, killed=None)


def compressed_samples(rows: bytes) -> Iterator[tuple[str, Sample]]:
    """Yield a text without an end in each compression."""
    for program, suffix in {"gzip": "gz", "bzip2": "bz2", "xz": "xz", "zstd": "zst", "lz4": "lz4"}.items():
        made = run(program, "-c", "-q", data=rows)
        yield f"{program} of a text", Sample(content=made, file_name=f"orders.csv.{suffix}", killed=None)
