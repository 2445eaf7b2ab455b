"""What the pages of the book need and nobody else: figures, exercises, exhibits, records."""
