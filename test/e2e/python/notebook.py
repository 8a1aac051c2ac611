"""Runs a notebook in a kernel and prints the data of its outputs as JSON.

python notebook.py NOTEBOOK
"""

import json
import sys

import nbformat
from nbclient import NotebookClient

notebook = nbformat.read(sys.argv[1], as_version=4)
NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
print(
    json.dumps(
        [
            dict(output["data"])
            for cell in notebook.cells
            for output in cell.get("outputs", ())
            if "data" in output
        ]
    )
)
