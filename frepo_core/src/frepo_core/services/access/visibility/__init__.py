"""What a token sees of objects that it may not open: events, files in reports, the output of jobs."""
