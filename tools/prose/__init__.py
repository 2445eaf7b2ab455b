"""Warnings about the prose of the book: lengths, words and letters that are matters of taste."""
