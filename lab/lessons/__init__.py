"""The way through the lab: its pages and the question each answers, the cards of the path, the search over it all."""
