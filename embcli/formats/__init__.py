"""Files of other programs, one format a file: what they hold as artifacts, and artifacts as such files."""
