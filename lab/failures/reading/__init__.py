"""What a program's text does to tensors, read from its syntax tree and never run: `facts` says what a name stands
for, `walk` follows the text and writes down what happens, `rules` judges it, `edits` makes the changed line."""
