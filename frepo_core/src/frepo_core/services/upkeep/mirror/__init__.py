"""The job `mirror`: makes second copies, and deletes those whose blobs were deleted."""
