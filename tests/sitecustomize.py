"""Python imports this at its start with `tests` on its path, to record the logs of child processes."""

import os

if "FREPO_LOG_RECORDER" in os.environ:
    from support.logs.log_recorder import record_logs

    record_logs(os.environ["FREPO_LOG_RECORDER"])
