"""Write the generated parts of the pages of a directory: `python -m twinhive.surfaces.reference docs`."""

import sys
from pathlib import Path

from twinhive.surfaces.reference.pages import write

if __name__ == "__main__":
    for path in write(Path(sys.argv[1])):
        sys.stdout.write(f"{path} is written\n")
