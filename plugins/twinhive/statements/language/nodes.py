"""Take the tree of a statement apart: its parts by their names, its words and texts."""

from lark import Token, Tree

from twinhive.statements.language.string_literals import unquoted
from twinhive.statements.language.syntax import Node


def parts_of(tree: Node) -> dict[str, Node]:
    """Return the parts of a tree by their names in the grammar; of several of a name the last."""
    return {str(child.data): child for child in tree.children if isinstance(child, Tree)}


def tokens_of(tree: Node) -> list[Token]:
    """Return the words and texts that stand in a tree itself."""
    return [child for child in tree.children if isinstance(child, Token)]


def word_of(token: Token) -> str:
    """Return a name in lower case, without its backticks."""
    return token.strip("`").lower()


def said_by(token: Token) -> str:
    """Return what a text in quotes says. Raises Misplaced."""
    return unquoted(token, token.start_pos or 0)
