"""A folder that replaces a Debian machine, so that the commands of an installation can run in it."""

import os
import re
import shutil
import signal
import sys
from pathlib import Path

from sqlalchemy import make_url

from support.installation.environments import LEFT_BEHIND, Environment, make_environment
from support.paths import ROOT
from support.servers.nginx import AROUND
from support.servers.processes import free_port

FOLDERS = ("etc/systemd/system", "etc/nginx/conf.d", "usr/local/bin", "opt", "var/lib/frepo", "bin", "pids")

# These programs require root or change the machine. `systemctl` starts the command of the installed unit.
STAND_INS = {
    "apt-get": "#!/bin/sh\nexit 0\n",
    "useradd": "#!/bin/sh\nset -C; : > {root}/frepo.user\n",
    "userdel": "#!/bin/sh\nexec rm {root}/frepo.user\n",
    "setpriv": '#!/bin/sh\nshift 3\nexec "$@"\n',
    "su": '#!/bin/sh\nexec sh -c "$3"\n',
    "nginx": '#!/bin/sh\nexec {nginx} -p {root}/nginx -c {root}/nginx/nginx.conf -e {root}/nginx/error.log "$@"\n',
    "systemctl": """#!/bin/sh
set -eu
unit={root}/etc/systemd/system/frepo@.service
value() {{ sed -n "s/^$1=//p" "$unit" | sed "s/%i/$port/"; }}
case "$1" in
    daemon-reload) ;;
    reload) [ ! -f {root}/pids/nginx ] || exec nginx -s reload
        nginx > {root}/nginx.log 2>&1 & echo $! > {root}/pids/nginx ;;
    enable)
        shift 2
        for name in "$@"; do
            port=${{name#frepo@}}
            (
                set -a; . "$(value EnvironmentFile)"; set +a
                mkdir -p "$(value WorkingDirectory)"; cd "$(value WorkingDirectory)"
                exec env "$(value Environment)" $(value ExecStart)
            ) > {root}/service-$port.log 2>&1 &
            echo $! > {root}/pids/$port
        done ;;
    disable)
        shift 2
        for name in "$@"; do
            pid=$(cat {root}/pids/${{name#frepo@}})
            kill "$pid"
            while grep -qs '^State:\t[^Z]' /proc/$pid/status; do sleep 0.05; done
            rm {root}/pids/${{name#frepo@}}
        done ;;
    *) echo "unknown: $*" >&2; exit 1 ;;
esac
""",
}


class Machine:
    """A clone of the project below `folder`; its files name paths and ports of this machine.

    The programs of STAND_INS are replaced. Everything else is real: pip, PostgreSQL, frepo's processes, nginx.
    """

    def __init__(self, folder: Path, database_url: str) -> None:
        self.folder = folder
        self.clone = folder / "clone"
        self._url = make_url(database_url)
        ports = {name: str(free_port()) for name in ("6543", "6544", "80")}
        self._changes = [
            (r"/opt/frepo|/etc/(?!nginx/mime)|/var/lib/frepo|/usr/local/bin/", lambda found: f"{folder}{found[0]}"),
            (r"6543|6544", lambda found: ports[found[0]]),
            (r"listen 80;", f"listen 127.0.0.1:{ports['80']};"),
            (r"127\.0\.0\.1:80\b", f"127.0.0.1:{ports['80']}"),
            (r"@127\.0\.0\.1/", f"@127.0.0.1:{self._url.port}/"),
        ]
        for name in FOLDERS:
            (folder / name).mkdir(parents=True)
        self._copy_clone()
        self._write_stand_ins()
        self.environment = self._make_environment()

    def adapt(self, text: str) -> str:
        """Replace the paths and ports of a page with those of this machine."""
        for pattern, value in self._changes:
            text = re.sub(pattern, value, text)
        return text

    @property
    def variables(self) -> dict[str, str]:
        """The environment variables of the administrator's shell, with administrator access to the database."""
        url = self._url
        access = {"PGHOST": url.host, "PGPORT": str(url.port), "PGUSER": url.username, "PGPASSWORD": url.password}
        path = os.pathsep.join([str(self.folder / "bin"), str(self.folder / "usr/local/bin")])
        own = self.environment.variables
        return (
            own | {name: value or "" for name, value in access.items()} | {"PATH": f"{path}{os.pathsep}{own['PATH']}"}
        )

    def stop(self) -> None:
        """End the processes that `systemctl` started, by their ids."""
        for path in (self.folder / "pids").iterdir():
            os.kill(int(path.read_text()), signal.SIGTERM)

    def _copy_clone(self) -> None:
        shutil.copytree(ROOT, self.clone, ignore=LEFT_BEHIND)
        for path in [
            self.clone / "production.ini",
            *(path for path in (self.clone / "deploy").iterdir() if path.is_file()),
        ]:
            path.write_text(self.adapt(path.read_text()))

    def _write_stand_ins(self) -> None:
        (self.folder / "nginx").mkdir()
        around = AROUND.format(folder=self.folder / "nginx", user="user root;" if os.geteuid() == 0 else "")
        around = around.replace(f"{self.folder}/nginx/frepo.conf", f"{self.folder}/etc/nginx/conf.d/*.conf")
        (self.folder / "nginx/nginx.conf").write_text(around)
        for name, text in STAND_INS.items():
            path = self.folder / "bin" / name
            path.write_text(text.format(root=self.folder, nginx=shutil.which("nginx")) if "{root}" in text else text)
            path.chmod(0o755)

    def _make_environment(self) -> Environment:
        """Make it without wheels of frepo: the page has to name each distribution that is needed."""
        (self.folder / "wheels").mkdir()
        environment = make_environment(self.folder / "opt/frepo", self.folder / "wheels")
        write_pip(environment)
        return environment


def write_pip(environment: Environment) -> None:
    """Add the command `pip` to the environment; its module is linked like the dependencies."""
    pip = environment.bin / "pip"
    pip.write_text(f"#!{environment.bin}/python\nimport sys\nfrom pip import main\nsys.exit(main())\n")
    pip.chmod(0o755)


def copy_clone(folder: Path, wheels: Path) -> Environment:
    """Copy the project, with an environment in .venv that `make` accepts as up to date."""
    shutil.copytree(ROOT, folder, ignore=LEFT_BEHIND)
    environment = make_environment(folder / ".venv", wheels, "frepo")
    write_pip(environment)
    (folder / ".venv/installed").touch()
    assert sys.prefix not in str(environment.folder)
    return environment
