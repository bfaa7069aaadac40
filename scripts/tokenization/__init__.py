"""What scripts/tokenize and scripts/sample share."""
