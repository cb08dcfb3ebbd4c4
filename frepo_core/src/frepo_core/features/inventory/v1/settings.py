"""The endpoint of the settings in force."""

from frepo_core.web.base.endpoint import Answer, Endpoint
from frepo_core.web.base.request import V1, FrepoRequest
from frepo_core.web.conventions.paging import PageReply
from frepo_core.web.schemas.models import Reply

from ..feature import InventoryServices
from ..settings_in_force import Source


class Setting(Reply):
    """A setting: `name` in the ini file, `variable` in the environment. The value is written as in an ini file.

    A secret that has a value is shown as `***`, and so is a text that may contain one, such as a command. `package`
    declares the setting.
    """

    name: str
    variable: str
    value: str
    default: str
    source: Source
    secret: bool
    description: str
    package: str


class SettingPage(PageReply[Setting]):
    """All settings, by name. They are always one page."""


def list_settings(request: FrepoRequest) -> Answer:
    """List the settings in force, and where each comes from: the environment, the ini file, or the default.

    These are the settings of the process that answers. Other processes have the same, if they have the same ini file
    and environment and were started after the last change.
    """
    items = [
        Setting.model_validate({**vars(one), "secret": one.is_secret})
        for one in request.services.feature(InventoryServices).inventory.settings()
    ]
    return Answer(body=SettingPage(items=items, next=None))


ENDPOINTS = [
    Endpoint(
        name="list_settings",
        method="GET",
        path=f"{V1}/settings",
        view=list_settings,
        summary="List the settings in force",
        permission="settings.view",
        answers={200: SettingPage},
    ),
]
