"""The metastore's Thrift API as bytes: which names a message holds, and the same message with other names.

Nothing here decodes a message into objects and encodes it again: fields that this version does
not know stay as they are.
"""
