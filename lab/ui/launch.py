"""The command `tensor-ops-lab`, which starts the app wherever it is installed."""

import os
import sys
from pathlib import Path

from lab.config import ROOT, RUNS


def main() -> None:
    """Start the server as `streamlit run app.py` does, with the same options.

    Training runs of the command line are read from ./runs unless TENSOR_LAB_RUNS names another folder.
    """
    from streamlit.web.cli import main as streamlit  # imported here because it takes half a second

    os.environ.setdefault(RUNS, str(Path.cwd() / "runs"))
    sys.argv = ["streamlit", "run", str(ROOT / "app.py"), *sys.argv[1:]]
    streamlit()
