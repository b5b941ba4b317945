"""JSON in gzip, as what is remembered is kept: who reads damaged content goes on as if nothing were there."""

import gzip
import json
import zlib
from typing import Any


def unpack_json(content: bytes) -> Any:
    """Return the value that packed JSON holds. Raises ValueError for content that is damaged in whatever way."""
    try:
        return json.loads(gzip.decompress(content))
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"{error}: no JSON in gzip") from error
