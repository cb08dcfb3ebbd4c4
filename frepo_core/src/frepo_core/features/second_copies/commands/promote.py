"""The command that makes the second storage the first one."""

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING

from frepo_core.cli.base import FrepoCommand
from frepo_core.domain.sizes import readable_size
from frepo_core.errors import FrepoError

from ..feature import SecondCopyServices

if TYPE_CHECKING:
    from frepo_core.services.composition.container import Services

    from ..promotion import Plan


class Promote(FrepoCommand):
    """Make the storage with the second copies the first one, after the loss of the first; the service keeps running."""

    examples = ("frepo storage:promote offsite",)

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("storage", metavar="STORAGE", help="the storage that becomes the first one")
        parser.add_argument(
            "--from", dest="former", metavar="NAME", help="the storage that is lost; default: the first one"
        )
        parser.add_argument("--force", action="store_true", help="also if contents have no second copy")
        parser.add_argument("--yes", action="store_true", help="do not ask")

    def take_action(self, arguments: argparse.Namespace) -> None:
        """Show what it means, ask, and promote. Raises `FrepoError` if copies are missing and nobody accepts that."""
        services = self.services()
        promotions = services.feature(SecondCopyServices).promotions
        if arguments.former is None and services.backends.epoch and services.backends.current == arguments.storage:
            self._tell(services, f"{arguments.storage!r} is the first storage already.")
            return
        plan = promotions.plan(arguments.storage, former=arguments.former)
        for line in _describe(plan):
            self.say(line)
        if plan.loss.contents and not arguments.force:
            first = "To copy them first: frepo storage:mirror. " if plan.loss.works else ""
            raise FrepoError(f"Nothing was changed. {first}To promote the storage without them: --force")
        question = f"Shall {plan.storage!r} be the first storage instead of {plan.former!r}?"
        self.require_yes(question, given=arguments.yes)
        promotions.promote(plan)
        read = f"{plan.contents - plan.loss.contents} contents are read from there from now on."
        self._tell(services, f"{services.backends.current!r} is the first storage now. {read}")

    def _tell(self, services: "Services", text: str) -> None:
        """Say what was done, and which settings differ from it."""
        from frepo_core.services.content.storages.first_storage import find_differences

        self.say(text)
        for difference, remedy in find_differences(services.backends, services.settings.mirror):
            self.say(f"{difference}. {remedy}.")


def _describe(plan: "Plan") -> Iterator[str]:
    """Yield what the promotion means, and what is lost without the former storage."""
    loss = plan.loss
    yield f"The first storage is {plan.former!r}, which {'works' if loss.works else 'does not work'}."
    yield f"Contents in it: {plan.contents}, with a copy in {plan.storage!r}: {plan.contents - loss.contents}."
    if not loss.contents:
        return
    yield f"Without a copy: {loss.contents} ({readable_size(loss.size)}):"
    for name in loss.names:
        yield f"  {name}"
    if loss.contents > len(loss.names):
        yield "  ..."
    if loss.works:
        yield f"They stay in {plan.former!r} until the job `mirror` has copied them."
    else:
        yield f"They can be read again only if {plan.former!r} works again: then they are copied."
