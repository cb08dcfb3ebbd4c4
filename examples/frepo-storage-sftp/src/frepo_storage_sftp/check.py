"""The command `frepo sftp:check`."""

import argparse

from frepo_core.cli import FrepoCommand


class Check(FrepoCommand):
    """Store, read back and delete a probe on the SFTP server, whether this storage is in use or not."""

    def take_action(self, arguments: argparse.Namespace) -> None:
        """Try it; what fails is raised, and the console says what and ends with status 1."""
        self.storage("sftp").check()
        self.app.stdout.write("The SFTP server stores, gives back and deletes\n")
