"""Follows what a program's text does to tensors, read from its syntax tree and never run.

`kinds` holds the vocabulary, `facts` what is known of one value, `registry` what the libraries have. The
interpreter is one object in layers, each built on those before it: `state` (its position in the text and the recorded
events), `tensors` (operations), `methods` and `libraries` (methods, torch, numpy), `calls` (what the text defines),
`expressions`, and `interpreter` (statements and loops). `shapes` and `syntax` help them. `rules`
judges the recorded events and says so with the sentences of `rules/sentences.toml`, `edits` writes the changed lines.
"""
