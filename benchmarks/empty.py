"""A minimal application on the same server: the baseline for frepo's requests."""

from collections.abc import Mapping

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


def main(global_config: Mapping[str, str], **settings: str) -> object:
    """Build an application with a view that answers 4 KiB, and one that commits a row."""
    engine = make_engine(settings["database.url"])
    Base.metadata.create_all(engine)
    content = bytes(4096)

    def get(request: Request) -> Response:
        return Response(body=content, content_type="application/octet-stream")

    def post(request: Request) -> Response:
        with Session(engine) as session:
            session.execute(insert(Note).values(text="a row"))
            session.commit()
        return Response(body=b"{}", content_type="application/json")

    config = Configurator()
    config.add_route("all", "/*path")
    config.add_view(get, route_name="all", request_method="GET")
    config.add_view(post, route_name="all", request_method="POST")
    return config.make_wsgi_app()
