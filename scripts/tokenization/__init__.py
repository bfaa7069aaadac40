"""Code that scripts/tokenize and scripts/sample share."""
