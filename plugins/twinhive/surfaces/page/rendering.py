"""Turn values into pages. Everything is escaped; nothing is loaded from elsewhere, and nothing runs inline."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fastapi.responses import HTMLResponse, Response
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from twinhive.surfaces.page import readable_numbers as words

_HERE = Path(__file__).parent
_TYPES = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8"}
FILES: Mapping[str, tuple[bytes, str]] = {
    path.name: (path.read_bytes(), _TYPES[path.suffix]) for path in sorted((_HERE / "static").iterdir())
}
"""The page's own files by name: content and media type."""

HEADERS = {
    # Airflow shows the page in a frame of the same origin.
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'self'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    said = (words.ago, words.count, words.duration, words.milliseconds, words.moment, words.size)
    environment.filters |= {function.__name__: function for function in said}
    return environment


_TEMPLATES = _environment()


def page(template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """Render a template."""
    return HTMLResponse(_TEMPLATES.get_template(template).render(values), status, HEADERS)


def file(name: str) -> Response:
    """Return one of the page's own files."""
    content, media_type = FILES[name]
    return Response(content, headers={**HEADERS, "Cache-Control": "private, max-age=300"}, media_type=media_type)
