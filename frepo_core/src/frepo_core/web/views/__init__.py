"""The views of the mission's API. A view translates and decides nothing."""
