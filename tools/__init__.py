"""What helps to write the book, and is no part of it."""
