"""Python imports this at its start with `tests` on its path, to record the logs of child processes: `servers.ears`."""

import os

if "FREPO_EARS" in os.environ:
    from support.servers.ears import listen

    listen(os.environ["FREPO_EARS"])
