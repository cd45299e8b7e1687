"""What documents are: text, counts, labels; files to a Corpus and back."""
