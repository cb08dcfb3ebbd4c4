"""Which features there are stands here, and nowhere else. `frepo_core.assemble` makes the services with all of them."""

from importlib import import_module

# The order is that of their endpoints: where two paths match, that of the first one counts.
NAMES = (
    "aliases",
    "inventory",
    "documents",
    "enrolment",
    "fleet",
    "preview",
    "overview",
    "restore_tests",
    "senders",
    "storage_check",
    "moves",
    "evidence",
    "second_copies",
    "lock_proof",
    "recovery",
    "compact",
)
FEATURES = tuple(import_module(f"{__package__}.{name}.feature").FEATURE for name in NAMES)
