"""What makes and tidies the files of the pages: stored models, texts, notes in notebooks."""
