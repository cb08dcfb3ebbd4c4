"""Python imports this when it starts with `tests` on its path: what the tests start is heard. See `servers.ears`."""

import os

if "FREPO_EARS" in os.environ:
    from support.servers.ears import listen

    listen(os.environ["FREPO_EARS"])
