import re

from frepo_core.domain.saved_names import COMPRESSIONS, UNKNOWN, saved_name
from support.paths import ROOT

GZIP, XZ, TEXT, TAR = "application/gzip", "application/x-xz", "text/plain", "application/x-tar"


def test_the_extension_fits_the_content():
    for name, mime, saved in [
        ("shop-v3.sql.gz", TEXT, "shop-v3.sql"),
        ("shop-v3.sql.GZ", TEXT, "shop-v3.sql"),
        ("shop-v3.sql.gz", GZIP, "shop-v3.sql.gz"),
        ("shop-v3.sql", GZIP, "shop-v3.sql.gz"),
        ("shop-v3.sql.gz", XZ, "shop-v3.sql.xz"),
        ("etc-v1.tgz", TAR, "etc-v1.tar"),
        ("etc-v1.tgz", GZIP, "etc-v1.tgz"),
        ("shop-v3.sql.gz", UNKNOWN, "shop-v3.sql.gz"),
        ("shop-v3.sql", TEXT, "shop-v3.sql"),
        (".gz", TEXT, ".gz"),
    ]:
        assert saved == saved_name(name, mime), name


def test_the_console_has_the_same_table():
    text = (ROOT / "frepo_console/src/frepo_console/pages/lib/saved_name.js").read_text()
    rows = re.findall(r'^  "(application/[\w-]+)": \[(.*)\],$', text, re.MULTILINE)

    assert {kind: tuple(re.findall(r"[.]\w+", listed)) for kind, listed in rows} == dict(COMPRESSIONS)
