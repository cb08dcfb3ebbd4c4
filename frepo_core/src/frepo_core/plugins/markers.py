"""The decorators of hooks: `hookspec` declares one, `hookimpl` marks a plug-in's function."""

import pluggy

PROJECT = "frepo"

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)
