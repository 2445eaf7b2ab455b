"""The book on paper: the pages of the built site as one document, printed by Chromium."""
