"""Read and write TJSON, the text form of Thrift structs, without Thrift.

A *tree* is the parsed form of TJSON text: `{"<field id>": {"<type>": value}}`. It is what the
metastore's event messages hold, and what objects carry as `thrift`.
"""

import json
from typing import Any

Tree = dict[str, Any]


def to_text(tree: Tree) -> str:
    """Write a tree as TJSON text."""
    return json.dumps(tree, ensure_ascii=False, separators=(",", ":"))


def from_text(text: str) -> Tree:
    """Parse TJSON text. Raises ValueError."""
    # Hive leaves control characters in strings unescaped.
    tree = json.loads(text, strict=False)
    if not isinstance(tree, dict):
        raise ValueError("TJSON of a struct must be an object")
    return tree
