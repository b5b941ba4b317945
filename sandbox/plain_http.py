"""What calls of `httpx` to servers of this machine need."""

import ssl
from typing import Final

NO_TLS: Final = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""For `verify=`. These servers speak no TLS, and this trusts nobody: by default each call reads all certificate
authorities first, which takes some 30 ms of a core, many times while a server starts or a test waits."""
