"""The policy that keeps the only good version of a collection."""

from frepo_core.plugins import PluginContext, PolicyRefusal, PolicyRequest

NAME = "last_good"


def decide(request: PolicyRequest, context: PluginContext) -> None:
    """Refuse a deletion after which the collection has no good version. Rotation is not asked about.

    Raises `PolicyRefusal`.
    """
    if request.takes_last_good:
        what = "the versions of the collection are" if request.version is None else f"v{request.version} is"
        raise PolicyRefusal(
            f"{what} the only good backup that is left. Upload a good one first, or set integrity.keep_last_good = no"
        )
