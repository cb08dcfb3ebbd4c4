"""The command `frepo sftp:check`."""

import argparse

from frepo_core.cli import FrepoCommand


class Check(FrepoCommand):
    """Store, read and delete a probe on the SFTP server, even if this storage is not in use."""

    def take_action(self, arguments: argparse.Namespace) -> None:
        """Run the check. An exception becomes a message and exit status 1."""
        self.storage("sftp").check()
        self.app.stdout.write("The SFTP server stores, returns and deletes blobs\n")
