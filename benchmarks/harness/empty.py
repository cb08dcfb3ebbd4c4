"""A minimal application on the same server: the baseline for frepo's requests."""

import os
import uuid
from collections.abc import Mapping
from pathlib import Path

from pyramid.config import Configurator
from pyramid.request import Request
from pyramid.response import Response
from sqlalchemy import insert
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

from frepo_core.db import make_engine


class Base(DeclarativeBase):
    """The base of one table."""


class Note(Base):
    """One row."""

    __tablename__ = "note"

    id: Mapped[int] = mapped_column(primary_key=True)
    text: Mapped[str]


def store(folder: Path, content: bytes) -> None:
    """Write a file with frepo's syncs: the content, then the folder."""
    name = uuid.uuid4().hex
    target = folder / name[:2] / name
    target.parent.mkdir(exist_ok=True)
    partial = target.with_suffix(".partial")
    with partial.open("xb", buffering=0) as file:
        file.write(content)
        os.fsync(file.fileno())
    partial.rename(target)
    descriptor = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def main(global_config: Mapping[str, str], **settings: str) -> object:
    """Build an application with a view that answers 4 KiB, and one that stores the body and commits a row."""
    engine = make_engine(settings["database.url"])
    Base.metadata.create_all(engine)
    content, folder = bytes(4096), Path(settings["folder"])
    folder.mkdir(exist_ok=True)

    def get(request: Request) -> Response:
        return Response(body=content, content_type="application/octet-stream")

    def post(request: Request) -> Response:
        store(folder, request.body)
        with Session(engine) as session:
            session.execute(insert(Note).values(text="a row"))
            session.commit()
        return Response(body=b"{}", content_type="application/json")

    config = Configurator()
    config.add_route("all", "/*path")
    config.add_view(get, route_name="all", request_method="GET")
    config.add_view(post, route_name="all", request_method="POST")
    return config.make_wsgi_app()
