"""Parts of split files look like cut ones. They are not checked, and whole files of such names are."""

import gzip

import pytest

from frepo_integrity.outcomes import BrokenContent
from support.compressors import rows, tar_of, zip_of
from support.dumps.programs import NOISE, require, run

MESSAGE = "It looks like one part of a split file. Only all parts together can be checked"
DUMP = b"--\n-- PostgreSQL database dump\n--\n" + rows(20_000) + b"--\n-- PostgreSQL database dump complete\n--\n"
WHOLE = {"gz": gzip.compress(DUMP), "sql": DUMP, "tar": tar_of(NOISE), "zip": zip_of(NOISE), "tgz": gzip.compress(DUMP)}
SPLIT = {
    "split": ([], "shop.gz."),
    "split without a dot": ([], "shop.gz"),
    "split -d": (["-d"], "shop.tar."),
    "split -d -a 4": (["-d", "-a", "4"], "shop.tgz-"),
    "split -a 3": (["-a", "3"], "shop.sql."),
    "split into part-": ([], "part-"),
    "split into a name": ([], "shop.zip.part_"),
    "split with its own names": ([], "x"),
    "7-Zip, HJSplit": (["-a", "3", "--numeric-suffixes=1"], "Shop.ZIP."),
    "7-Zip without a format": (["-a", "3", "--numeric-suffixes=1"], "shop."),
}


@pytest.fixture
def parts(tmp_path):
    """Return the parts of a content that `split` makes, by their names."""

    def parts(content, options, prefix):
        require("split")
        run("split", "-b", str(len(content) // 3 & ~511), *options, "-", prefix, folder=tmp_path, data=content)
        return {path.name: path.read_bytes() for path in sorted(tmp_path.iterdir())}

    return parts


@pytest.mark.parametrize("way", SPLIT)
def test_parts_are_not_checked(check, check_quickly, parts, way):
    options, prefix = SPLIT[way]
    kinds = [kind for kind in WHOLE if f".{kind}" in prefix.lower()] or ["gz"]
    found = parts(WHOLE[kinds[0]], options, prefix)

    assert len(found) >= 3
    for function in (check, check_quickly):
        reports = [function(content, name) for name, content in found.items()]
        assert {"not checked"} >= {report.outcome for report in reports} - {"pending"}, reports
    first, content = next(iter(found.items()))
    assert MESSAGE == check(content, first).message
    # The same content under the name of the whole file is cut.
    assert isinstance(check(content, f"shop.{kinds[0]}"), BrokenContent)


def test_a_whole_file_of_such_a_name_is_good(check):
    for name in ("shop.gz.001", "shop.tgz.aa", "part-aa", "shop.part1.zip"):
        assert ("good", "content") == (check(WHOLE["gz"], name).outcome, check(WHOLE["gz"], name).covers), name


def test_a_part_that_the_format_names_needs_no_name(check, check_quickly, tmp_path):
    (tmp_path / "noise").write_bytes(NOISE)
    run("zip", "-q", "-s", "64k", "shop.zip", "noise", folder=tmp_path)
    for form in ("gnu", "posix"):
        volumes = [f"--file={form}{number}.tar" for number in range(5)]
        run("tar", "-c", "-M", "-L", "70", f"--format={form}", *volumes, "noise", folder=tmp_path)
    later = [path for path in tmp_path.glob("*.tar") if not path.name.endswith("0.tar")]
    assert len(later) >= 4

    for path in (*later, *tmp_path.glob("shop.*")):
        for function in (check, check_quickly):
            assert not isinstance(function(path.read_bytes(), "shop"), BrokenContent), path.name
    assert MESSAGE == check((tmp_path / "shop.z01").read_bytes(), "shop").message


def test_other_names_are_those_of_whole_files(check):
    names = ["shop", "shop.tar.gz", "shop.sql.gz.1", "shop.gz.part", "shop-2026-11-26.gz", "shop.gz.20261126"]
    names += ["shop.tar.xz", "shop.sql.bak", "shop.parted", "counterpart", "shop15", "backup-de", "db.sql.old"]
    names += ["shop.sql.gzip", "shop.7zip", "shop.targz", "shop.tarxz", "shop.sqlar", "shop.sql.br", "shop.dump.db"]
    for name in names:
        assert isinstance(check(WHOLE["gz"][:-100], name), BrokenContent), name
        assert "suspicious" != check(WHOLE["gz"][:-100], name).verdict


def test_a_whole_container_is_no_part(check):
    """A small dump fits into one part."""
    for content in (gzip.compress(b""), gzip.compress(DUMP[:-100])):
        assert isinstance(check(content, "shop.gz.aa"), BrokenContent)
