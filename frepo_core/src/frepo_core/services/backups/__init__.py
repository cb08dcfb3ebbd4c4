"""Collections: their versions, rotation, trash, previews and restore tests."""
