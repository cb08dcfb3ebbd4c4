"""The upload checks of plug-ins: what they see, how they are run, and what they report."""
