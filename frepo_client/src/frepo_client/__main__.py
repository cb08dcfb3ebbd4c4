"""What `python frepo-client.pyz` runs."""

import sys

from frepo_client.cli import main

sys.exit(main())
