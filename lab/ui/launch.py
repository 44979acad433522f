"""The command `tensor-ops-lab`, which starts the app wherever it is installed."""

import sys

from lab.config import ROOT


def main() -> None:
    """Start the server as `streamlit run app.py` does, with the same options."""
    from streamlit.web.cli import main as streamlit  # imported here because it takes half a second

    sys.argv = ["streamlit", "run", str(ROOT / "app.py"), *sys.argv[1:]]
    streamlit()
