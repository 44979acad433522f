"""Parts of pages: each is one or more tabs, which a file in pages/ combines."""
