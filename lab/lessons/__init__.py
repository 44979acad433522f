"""The pages of the lab with the question each answers, the cards of the path, glossary, and the search."""
