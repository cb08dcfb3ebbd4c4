"""Small files of every type in the role lists, with their MIME types."""

import gzip
import io
import struct
import zipfile
import zlib


def _png() -> bytes:
    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(b"\0\0")) + chunk(b"IEND", b"")


def _zip() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a.txt", "a")
    return file.getvalue()


PNG = _png()
HTML = b"<!DOCTYPE html>\n<html><body>x</body></html>\n"
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
EXECUTABLE = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HHIQQQI6H", 2, 62, 1, 0, 0, 0, 0, 64, 0, 0, 0, 0, 0)
PDF = b"%PDF-1.4\n1 0 obj<<>>endobj\ntrailer<<>>\n%%EOF\n"

IMAGES = {
    "image/png": PNG,
    "image/jpeg": bytes.fromhex("ffd8ffe000104a46494600010100000100010000ffd9"),
    "image/gif": b"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;",
    "image/webp": b"RIFF\x24\0\0\0WEBPVP8 \x18\0\0\0" + bytes.fromhex("3001009d012a0100010002003425a4000370"),
    "image/svg+xml": SVG,
    "image/avif": b"\0\0\0\x1cftypavif\0\0\0\0avifmif1miaf",
    "image/bmp": b"BM:\0\0\0\0\0\0\0" + struct.pack("<IIiiHHI", 54, 40, 1, 1, 1, 24, 0) + bytes(24),
    "image/tiff": b"II*\0\x08\0\0\0\0\0\0\0\0\0",
}
VIDEOS = {
    "video/mp4": b"\0\0\0\x18ftypmp42\0\0\0\0mp42isom",
    "video/webm": bytes.fromhex("1a45dfa39f4286810142f7810142f2810442f381084282847765626d428781"),
    "video/mpeg": bytes.fromhex("000001ba44000400"),
    "video/quicktime": b"\0\0\0\x14ftypqt  \0\0\0\0qt  ",
    "video/x-msvideo": b"RIFF\x24\0\0\0AVI LIST",
    "video/x-ms-wmv": bytes.fromhex("3026b2758e66cf11a6d900aa0062ce6c") + bytes(20),
    "video/x-flv": b"FLV\x01\x05\0\0\0\t",
    "video/3gpp": b"\0\0\0\x14ftyp3gp4\0\0\0\x003gp4",
    "video/mp2t": (b"\x47\x40\0\x10" + bytes(184)) * 5,
    "video/x-matroska": bytes.fromhex("1a45dfa3a34286810142f7810142f2810442f381084282886d6174726f736b61428781"),
}
DOCUMENTS = {
    "application/pdf": PDF,
    "application/json": b'{"a": [1, 2]}\n',
    "text/csv": b"a,b,c\n1,2,3\n4,5,6\n",
    "text/plain": b"hello\n",
}
BACKUPS = {
    "application/gzip": gzip.compress(b"a", mtime=0),
    "application/zip": _zip(),
    "application/x-xz": bytes.fromhex("fd377a585a000004e6d6b446"),
    "application/zstd": bytes.fromhex("28b52ffd2001080000") + b"a",
    "application/vnd.sqlite3": b"SQLite format 3\0\x10\0\x01\x01\0\x40\x20\x20" + bytes(76),
    "text/xml": b'<?xml version="1.0"?>\n<a/>\n',
    "application/json": b'{"a": [1, 2]}\n',
    "text/plain": b"-- MySQL dump 10.13\nCREATE TABLE `a` (`id` int);\nINSERT INTO `a` VALUES (1);\n",
    "application/octet-stream": bytes(16),
}
OTHERS = {"text/html": HTML, "application/x-executable": EXECUTABLE}
