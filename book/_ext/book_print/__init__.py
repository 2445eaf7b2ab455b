"""The book on paper: the pages of the built site in two volumes, printed by Chromium."""
