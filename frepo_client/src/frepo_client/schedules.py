"""What starts `frepo-client run` each night: units of systemd, cron, Kubernetes, and Windows."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .errors import UsageError

_TIME = re.compile(r"([01]\d|2[0-3]):([0-5]\d)")


@dataclass(frozen=True)
class Schedule:
    """A start each day at `at` (HH:MM), up to `spread` seconds later, of which this host's own part is `delay`.

    `program` and `config` are absolute paths.
    """

    at: str
    spread: float
    delay: float
    program: str
    config: str

    def __post_init__(self) -> None:
        if not _TIME.fullmatch(self.at):
            raise UsageError(f"--at {self.at!r} is not a time; write it as 02:00")

    @property
    def own_minute(self) -> tuple[int, int]:
        """The hour and the minute of this host."""
        hour, minute = map(int, self.at.split(":"))
        total = (hour * 60 + minute + int(self.delay // 60)) % (24 * 60)
        return total // 60, total % 60


def systemd_service(schedule: Schedule) -> str:
    """Return the unit `frepo-client.service`."""
    return f"""\
[Unit]
Description=Backups of this machine to frepo
Wants=network-online.target
After=network-online.target

[Service]
Type=oneshot
# The timer spreads the starts, so the client does not wait.
ExecStart={schedule.program} --config {schedule.config} run --now
UMask=0077
StateDirectory=frepo-client
StateDirectoryMode=0700
Nice=10
IOSchedulingClass=idle
# A run that hangs is ended before the next one begins.
TimeoutStartSec=23h
"""


def systemd_timer(schedule: Schedule) -> str:
    """Return the unit `frepo-client.timer`. A start that was missed, because the machine was off, is made up for."""
    return f"""\
# Start it: systemctl daemon-reload && systemctl enable --now frepo-client.timer
[Unit]
Description=Start the backups of this machine each night

[Timer]
OnCalendar=*-*-* {schedule.at}:00
RandomizedDelaySec={schedule.spread:.0f}
# The same minute each night, another one on each host.
FixedRandomDelay=true
Persistent=true

[Install]
WantedBy=timers.target
"""


def cron_file(schedule: Schedule) -> str:
    """Return a file for /etc/cron.d. cron mails what is printed; the log gets it, too."""
    hour, minute = schedule.own_minute
    run = f"{schedule.program} --config {schedule.config} run --now"
    return f"""\
# Backups of this machine to frepo. The client holds a lock, so that no job runs twice.
SHELL=/bin/sh
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
{minute} {hour} * * * root umask 077; {run} 2>&1 | logger -t frepo-client -s
"""


def kubernetes_cron_job(schedule: Schedule) -> str:
    """Return a CronJob. Its image must have Python 3, the client, and the programs of the dumps."""
    hour, minute = schedule.own_minute
    return f"""\
# The Secret has the keys frepo-client.toml and token:
#   kubectl create secret generic frepo-client --from-file=frepo-client.toml --from-file=token
apiVersion: batch/v1
kind: CronJob
metadata:
  name: frepo-client
spec:
  schedule: "{minute} {hour} * * *"
  concurrencyPolicy: Forbid
  startingDeadlineSeconds: 3600
  successfulJobsHistoryLimit: 3
  failedJobsHistoryLimit: 3
  jobTemplate:
    spec:
      # The client tries again by itself, and a dump that failed is not made twice in a row.
      backoffLimit: 0
      activeDeadlineSeconds: 82800
      template:
        spec:
          restartPolicy: Never
          securityContext:
            runAsNonRoot: true
            runAsUser: 65532
            fsGroup: 65532
          containers:
            - name: frepo-client
              # Make one with Python 3, frepo-client.pyz as its entry point, and the programs of the dumps.
              # FROM python:3-alpine, COPY frepo-client.pyz /, ENTRYPOINT ["python3", "/frepo-client.pyz"]
              image: registry.example.org/frepo-client:0.1
              args: ["--config", "/etc/frepo/frepo-client.toml", "run", "--now"]
              env:
                - name: XDG_STATE_HOME
                  value: /var/lib/frepo-client
              securityContext:
                allowPrivilegeEscalation: false
                readOnlyRootFilesystem: true
              resources:
                requests: {{cpu: 100m, memory: 128Mi}}
                limits: {{memory: 512Mi}}
              volumeMounts:
                - {{name: configuration, mountPath: /etc/frepo, readOnly: true}}
                - {{name: state, mountPath: /var/lib/frepo-client}}
                - {{name: tmp, mountPath: /tmp}}
          volumes:
            - name: configuration
              secret: {{secretName: frepo-client, defaultMode: 0440}}
            # A claim instead keeps uploads that broke off over restarts of the pod.
            - {{name: state, emptyDir: {{}}}}
            - {{name: tmp, emptyDir: {{}}}}
"""


def windows_task(schedule: Schedule) -> str:
    """Return a command for an administrator's prompt of Windows."""
    hour, minute = schedule.own_minute
    run = f'py -3 \\"{schedule.program}\\" --config \\"{schedule.config}\\" run --now'
    when = f"/SC DAILY /ST {hour:02}:{minute:02}"
    return f'schtasks /Create /TN "frepo-client" {when} /RU SYSTEM /RL HIGHEST /F /TR "{run}"\n'
