"""A file of which a disk has turned some bytes over: gzip's own error for it is none of its others."""

import gzip

_WHOLE = gzip.compress(b'{"some": "value"}', mtime=0)
DAMAGED = _WHOLE[:10] + bytes(byte ^ 0xFF for byte in _WHOLE[10:])
