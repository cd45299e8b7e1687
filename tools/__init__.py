"""What developers run on this repository."""
