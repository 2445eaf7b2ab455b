"""Sentence pairs, vocabularies and batches."""
