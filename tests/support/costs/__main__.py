"""Prints what each request costs over one database as JSON: `python -m support.costs sqlite`."""

import json
import sys

from .table import measure

print(json.dumps({name: cost.as_dict() for name, cost in measure(sys.argv[1]).items()}))
