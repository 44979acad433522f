"""What one page alone shows: its tabs, which a file in pages/ combines, its pictures, and a folder for its panels."""
