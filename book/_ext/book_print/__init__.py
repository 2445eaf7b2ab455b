"""The book on paper: the pages of the built site in three volumes, printed by Chromium."""
