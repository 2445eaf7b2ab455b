"""The studies of the book: each is run on several seeds and writes one file of records."""
