"""The trash: versions and collections that were deleted can be restored for some days."""
