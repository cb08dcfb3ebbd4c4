"""Suppresses the log lines of urllib3 about a URL, whose path or query may contain a token or password."""

import logging
import threading


class _UrlLogFilter(logging.Filter, threading.local):
    """Drops all records of the thread while it is in the context."""

    active = False

    def filter(self, record: logging.LogRecord) -> bool:
        return not self.active

    def __enter__(self) -> None:
        self.active = True

    def __exit__(self, *_: object) -> None:
        self.active = False


URL_LOG_FILTER = _UrlLogFilter()

for _name in ("connection", "connectionpool", "poolmanager", "util.retry"):
    logging.getLogger(f"urllib3.{_name}").addFilter(URL_LOG_FILTER)
