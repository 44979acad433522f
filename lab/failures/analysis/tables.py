"""Arrays and tables that pandas and scikit-learn return; only their number of axes is known."""

import ast

from lab.failures.analysis.facts import Value
from lab.failures.analysis.kinds import Kind

READERS = {"read_csv", "read_excel", "read_table", "read_parquet", "read_json", "DataFrame"}
TO_TABLE = {"drop", "dropna", "fillna", "sample", "copy", "head", "tail", "reset_index", "astype", "sort_values", "map"}
RETURN_X_Y = {"make_regression", "make_classification", "make_moons", "make_circles", "make_blobs"}


def array(axes: int) -> Value:
    return Value(Kind.ARRAY, graph=False, shape=(None,) * axes)


def library_result(name: str, args: list[Value], keys: dict[str, Value]) -> Value | None:
    """Return the result of a pandas or scikit-learn function; None if unknown."""
    if name in READERS:
        return Value(Kind.TABLE, shape=(None, None))
    if name in RETURN_X_Y or (name.startswith(("load_", "fetch_")) and "return_X_y" in keys):
        return Value(Kind.LIST, items=[array(2), array(1)])
    if name == "train_test_split" and args and all(a.kind in {Kind.ARRAY, Kind.TABLE, Kind.TENSOR} for a in args):
        return Value(Kind.LIST, items=[part for a in args for part in (a, a)])
    if name.startswith(("load_", "fetch_")) and not args:
        return Value(name="data", attributes={"data": array(2), "target": array(1)})
    if name in {"fit_transform", "transform"} and len(args) == 1 and args[0].kind in {Kind.ARRAY, Kind.TABLE}:
        return Value(Kind.ARRAY, graph=False, shape=args[0].shape)
    return None


def method(table: Value, name: str) -> Value:
    if name == "to_numpy":
        return array(len(table.shape or ()))
    return table if name in TO_TABLE else Value()


def attribute(table: Value, name: str) -> Value:
    if name == "values":
        return array(len(table.shape or ()))
    return table if name in {"iloc", "loc"} else Value()


def column(table: Value, index: ast.expr) -> Value:
    """Return what an index selects: df["a"] and df.iloc[:, -1] are columns, df[["a", "b"]] and df[:10] tables."""
    last = index.elts[-1] if isinstance(index, ast.Tuple) and index.elts else index
    if isinstance(last, ast.Slice | ast.List) or len(table.shape or ()) < 2:
        return table
    one = isinstance(last, ast.Constant) or (isinstance(last, ast.UnaryOp) and isinstance(last.operand, ast.Constant))
    return Value(Kind.TABLE, shape=(None,)) if one else Value()
