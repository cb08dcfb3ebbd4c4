"""Forms: the file is found at any position, and its bytes are exactly those between the delimiters."""

import os

import pytest

from support.wire import eventually, field, form, traces


def fresh(size=100):
    return os.urandom(size)


@pytest.mark.parametrize("order", [1, -1])
def test_fields_before_and_after_the_file_are_used(client, order):
    parts = [field("fileName", b"named.txt"), field("tags[]", b"night"), field("file", fresh(), "sent.txt")]
    reply = client.multipart(form(*parts[::order]))

    assert (200, "named.txt") == (reply.status, reply.json["requested_filename"])


def test_content_that_looks_like_a_delimiter_is_content(client):
    for content in [
        b"\r\n",
        b"\r\n\r\n\r\n",
        b"\r",
        b"\n--XX\n",
        b"--XX",
        b"--XX--",
        b"a\r\n--X",
        b"\r\n--X\r\n--",
        b"\r\n-\r\n--\r\n--Y",
        b'x--XX\r\nContent-Disposition: form-data; name="file"\r\n\r\n',
        b"\r\n--xx\r\n",
    ]:
        assert content == client.content(client.multipart(form(field("file", content, "a.bin")))), content


def test_content_across_the_reading_steps_is_unchanged(client):
    for tail in [b"", b"\r\n", b"\r\n--X"]:
        for size in ((1 << 18) - 90, 1 << 18, (1 << 18) + 1, 3_000_001):
            content = fresh(size) + tail
            body = form(field("file", content, "a.bin"), field("tags", b"x"))

            assert content == client.content(client.multipart(body)), size


def test_a_delimiter_may_lie_across_the_reading_steps(client):
    pad = b"".join(field(name, b"x" * (50 << 10)) for name in "abcde")
    rest = (1 << 18) - len(pad) - len(field("f", b""))
    for shift in range(0, 120, 7):
        content = fresh()
        last = field("f", b"y" * (rest - shift))
        body = form(pad + last, field("file", content, "a.bin"), field("tags", b"x"))

        assert content == client.content(client.multipart(body)), shift


def test_headers_of_the_part_do_not_matter(client):
    content = fresh()
    part = field("file", content, "a.bin", "Content-Type: image/png", "Content-Transfer-Encoding: binary", "X-Own: 1")

    assert content == client.content(client.multipart(form(part)))


@pytest.mark.parametrize("length", [1000, 4000])
def test_long_headers_of_parts_do_not_move_the_content(client, length):
    content = fresh()
    part = field("file", content, "a.bin", *(f"X-Own-{number}: {'x' * length}" for number in range(6)))

    assert content == client.content(client.multipart(form(part)))


def test_a_preamble_is_not_stored(client):
    for preamble in [b"\r\n", b"preamble\r\n", b"lines\r\n\r\n--X\r\n\r\n", b"x" * 200_000 + b"\r\n"]:
        content = fresh()
        body = preamble + form(field("file", content, "a.bin"))
        reply = client.multipart(body)

        assert content == client.content(reply), preamble


def test_the_end_may_lie_across_the_reading_steps(client):
    frame = len(form(field("file", b"", "a.bin")))
    for over in range(5):
        content = fresh((1 << 18) - frame + over)

        assert content == client.content(client.multipart(form(field("file", content, "a.bin")))), over


def test_an_epilogue_is_not_stored(client):
    content = fresh()

    assert content == client.content(client.multipart(form(field("file", content, "a.bin")) + b"epilogue\r\n"))


def test_every_spelling_of_the_content_type_is_understood(client):
    for header, boundary in [
        ("multipart/form-data; boundary=XX", "XX"),
        ('multipart/form-data; boundary="a b:c"', "a b:c"),
        ("multipart/form-data; charset=utf-8; boundary=XX", "XX"),
        ("Multipart/Form-Data; Boundary=XX", "XX"),
        ("multipart/form-data;boundary=" + "b" * 70, "b" * 70),
        ("multipart/form-data ; boundary=XX", "XX"),
    ]:
        content = fresh()
        body = form(field("file", content, "a.bin", boundary=boundary), boundary=boundary)
        reply = client.request("POST", "/repository/file/upload", body, {"Content-Type": header})

        assert content == client.content(reply), header


def test_a_version_is_pushed_as_a_form(client):
    content, collection = fresh(3_000_001), client.collection()
    reply = client.push(
        collection,
        form(field("x", b"1"), field("file", content, "a")),
        {"Content-Type": "multipart/form-data; boundary=XX"},
    )

    assert (200, len(content)) == (reply.status, reply.json["version"]["size"])


WHOLE = form(field("file", b"content", "a.txt"))
BROKEN = {
    "nothing": b"",
    "no delimiter": b"content",
    "another delimiter": form(field("file", b"content", "a.txt", boundary="YY"), boundary="YY"),
    "no end": WHOLE[:-6],
    "half an end": WHOLE[:-4],
    "cut in the content": WHOLE[:-15],
    "cut in the headers": WHOLE[:30],
    "only the end": b"--XX--\r\n",
    "no headers": b"--XX\r\n\r\ncontent\r\n--XX--\r\n",
    "no name": b"--XX\r\nContent-Disposition: form-data\r\n\r\ncontent\r\n--XX--\r\n",
    "no disposition": b"--XX\r\nX: y\r\n\r\ncontent\r\n--XX--\r\n",
    "bare line feeds": WHOLE.replace(b"\r\n", b"\n"),
    "no file": form(field("fileName", b"a.txt")),
    "a length that does not fit": form(field("file", b"content", "a.txt", "Content-Length: 3")),
    "a field that is not UTF-8": form(field("tags", b"\xff"), field("file", b"content", "a.txt")),
    "a field that is too long": form(field("tags", b"x" * 70_000), field("file", b"content", "a.txt")),
    "too many fields": form(*(field(f"f{n}", b"") for n in range(300)), field("file", b"content", "a.txt")),
    "endless headers": b'--XX\r\nContent-Disposition: form-data; name="file"\r\nX: ' + b"x" * 1_000_000,
}


def test_a_broken_form_is_refused_and_leaves_nothing(service, client, before):
    for name, body in BROKEN.items():
        reply = client.multipart(body, fileName="a.txt")

        assert (400, 400) == (reply.status, reply.json["error_code"])
        assert before == eventually(before, lambda: traces(service)), name


def test_a_form_without_a_boundary_is_refused(client):
    for header in ["multipart/form-data", "multipart/form-data; boundary=", 'multipart/form-data; boundary=""']:
        reply = client.request("POST", "/repository/file/upload?fileName=a", WHOLE, {"Content-Type": header})

        assert (400, True) == (reply.status, "boundary" in reply.json["status"]), header


def test_a_boundary_that_is_too_long_is_refused(client):
    boundary = "b" * 2000
    reply = client.multipart(form(field("file", b"x", "a.txt", boundary=boundary), boundary=boundary), boundary)

    assert (400, 400) == (reply.status, reply.json["error_code"])
