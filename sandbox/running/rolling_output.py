"""Copy standard input to a file that starts anew when it is full, keeping one predecessor.

Run as a script beside each server: `python rolling_output.py FILE BYTES`. It ends when the server closes its output.
"""

import os
import sys
from pathlib import Path


def main() -> None:
    """Copy until the input ends."""
    path, limit = Path(sys.argv[1]), int(sys.argv[2])
    output = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    size = os.fstat(output).st_size
    while chunk := os.read(0, 65536):
        if size + len(chunk) > limit:
            os.close(output)
            path.replace(f"{path}.1")
            output = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
            size = 0
        try:
            size += os.write(output, chunk)
        except OSError:
            # On a full disk the server must go on: its output is dropped rather than blocked.
            continue


if __name__ == "__main__":
    main()
