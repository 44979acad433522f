"""Uploaded files, which Streamlit keeps in memory for some minutes after their visitor has left."""

from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import UploadedFile


def release(file: UploadedFile) -> None:
    """Remove a file from the server's memory, once the session holds what was read from it.

    From the next run on, its uploader returns None, though its list in the browser still shows the file.
    """
    context = get_script_run_ctx()
    if context and isinstance(context.uploaded_file_mgr, MemoryUploadedFileManager):
        context.uploaded_file_mgr.remove_file(context.session_id, file.file_id)
