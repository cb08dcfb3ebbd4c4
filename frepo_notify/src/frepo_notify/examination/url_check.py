"""Checks at the start whether Apprise understands the targets' URLs.

It runs in a process of its own, so that the processes that serve requests do not hold Apprise in memory (30 MB).
"""

import json
import subprocess
import sys
from collections.abc import Sequence

from frepo_core.plugins import ConfigurationError

from ..targets import Target

_TIMEOUT = 60


def check_urls(targets: Sequence[Target]) -> None:
    """Raise `ConfigurationError` that names the targets whose URLs Apprise does not understand."""
    urls = {target.name: target.url for target in targets if not target.is_webhook}
    if not urls:
        return
    # The URLs are sent over a pipe, because other users of the machine can read arguments.
    done = subprocess.run(
        [sys.executable, "-m", __name__],
        input=json.dumps(urls),
        capture_output=True,
        text=True,
        timeout=_TIMEOUT,
        check=False,
    )
    if done.returncode:
        raise ConfigurationError("Apprise, which sends notifications, cannot be imported. Install frepo-notify again")
    if wrong := json.loads(done.stdout):
        raise ConfigurationError(
            "Setting notify.targets (NOTIFY_TARGETS): Apprise does not understand the URL of the target "
            f"{', '.join(map(repr, wrong))}. https://appriseit.com/services/ lists the URLs of all services"
        )


def main() -> None:
    """Read URLs and their names from the standard input; print the names of those that Apprise does not understand."""
    from ..apprise_target import is_understood

    urls = json.load(sys.stdin)
    json.dump([name for name, url in urls.items() if not is_understood(url)], sys.stdout)


if __name__ == "__main__":
    main()
