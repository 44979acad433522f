"""Draw the graph of a result y of your engine: `print(draw(y))`; with Graphviz, `draw(y).render("y", format="svg")`."""

from graphviz import Digraph


def draw(result):
    drawing, seen, todo = Digraph(graph_attr={"rankdir": "LR"}), set(), [result]
    while todo:
        node = todo.pop()
        if node not in seen:
            seen.add(node)
            drawing.node(str(id(node)), f"{node._op or 'leaf'}\ndata {node.data}\ngrad {node.grad}")
            for child in node._children:
                drawing.edge(str(id(child)), str(id(node)))
                todo.append(child)
    return drawing
