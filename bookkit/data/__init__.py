"""The tasks and texts of the book: a grammar, stories, scenes, reports."""
