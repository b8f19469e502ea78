"""The page: chat, investigations, memory and threads in a browser (Gradio; the extra ``serve``).

``make_page`` builds it around the server's ``Jobs``; ``mount_page`` makes a Starlette mount of it, and ``page_routes``
are what it links to beside ``snellen.serving.artifact_routes``.
"""

from snellen.page.app import make_page, mount_page
from snellen.page.routes import page_routes

__all__ = ["make_page", "mount_page", "page_routes"]
