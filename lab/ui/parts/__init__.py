"""Parts of pages: each is one or several tabs, which a file in pages/ puts together."""
