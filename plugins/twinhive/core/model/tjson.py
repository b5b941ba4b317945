"""Read and write TJSON, the text form of Thrift structs, without Thrift.

A *tree* is the parsed form of TJSON text: `{"<field id>": {"<type>": value}}`. It is what the
metastore's event messages hold, and what objects carry as `thrift`.
"""

import json
from typing import Any

Tree = dict[str, Any]

AS_HIVE_WRITES = json.JSONDecoder(strict=False)
"""Hive leaves control characters in strings unescaped."""
_COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def to_text(tree: Tree) -> str:
    """Write a tree as TJSON text."""
    return _COMPACT.encode(tree)


def from_text(text: str) -> Tree:
    """Parse TJSON text. Raises ValueError."""
    tree = AS_HIVE_WRITES.decode(text)
    if not isinstance(tree, dict):
        raise ValueError("TJSON of a struct must be an object")
    return tree
