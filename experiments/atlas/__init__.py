"""Today's models, each held against the reference implementation in Hugging Face's library."""
