"""What a program's text does to tensors, read from its syntax tree and never run.

`kinds` has the words, `facts` says what a name stands for, `effects` what each function of tensors does, one row a
function. An interpreter is one object in layers, each of which knows one thing more: `program` (where it stands and
what it wrote down), `tensors` (operations), `methods` and `libraries` (what torch and numpy do), `calls` (what the text
itself defines), `expressions`, and `interpreter` (statements, loops, the whole). `shapes` and `tables` help. What it
wrote down, the events, is judged by `rules`; `edits` makes the changed line.
"""
