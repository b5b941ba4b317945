"""Find the rules of configuration files in their models, and break each of them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import AfterValidator, BaseModel

from twinhive.runtime.settings.allowed_values import kind_at
from twinhive.runtime.settings.value_kinds import Strict

_LIMITS = ("minimum", "maximum", "exclusiveMinimum", "pattern", "maxLength", "minItems", "enum")
# They change a value and refuse none.
_NO_RULES = {"_lower"}


@dataclass(frozen=True)
class SchemaRule:
    """One rule of a file: the place of a key, the kind of the rule, what it says."""

    place: tuple[str, ...]
    kind: str
    says: Any = None

    def __str__(self) -> str:
        return f"{'.'.join(self.place) or '(whole file)'} {self.kind}"


def schema_rules(model: type[BaseModel]) -> Iterator[SchemaRule]:
    """Yield every rule of a model: types, limits, keys that must and may be there, validators of our own."""
    schema = model.model_json_schema()
    for rule in _rules(schema, schema.get("$defs", {}), ()):
        yield rule
        if rule.kind == "type":
            yield from _validators(model, rule.place)


def _rules(schema: Mapping[str, Any], defs: Mapping[str, Any], place: tuple[str, ...]) -> Iterator[SchemaRule]:
    schema = _resolved(schema, defs)
    yield SchemaRule(place, "type", schema.get("type", "string"))
    yield from (SchemaRule(place, kind, schema[kind]) for kind in _LIMITS if kind in schema)
    yield from (SchemaRule((*place, name), "required") for name in schema.get("required", ()))
    if schema.get("additionalProperties") is False:
        yield SchemaRule(place, "no other keys", sorted(schema["properties"]))
    elif isinstance(schema.get("additionalProperties"), dict):  # True: whatever they like
        yield from _rules(schema["additionalProperties"], defs, (*place, "any"))
    for name, below in schema.get("properties", {}).items():
        yield from _rules(below, defs, (*place, name))
    if "items" in schema:
        yield from _rules(schema["items"], defs, (*place, "0"))


def _resolved(schema: Mapping[str, Any], defs: Mapping[str, Any]) -> Mapping[str, Any]:
    """Look through references, and through `X or null`."""
    for option in schema.get("anyOf", ()):
        if option.get("type") != "null":
            return _resolved(option, defs)
    if "$ref" in schema:
        return _resolved(defs[schema["$ref"].rpartition("/")[2]], defs)
    return schema


def _validators(model: type[BaseModel], place: tuple[str, ...]) -> Iterator[SchemaRule]:
    annotation, metadata = kind_at(model, place)
    for item in metadata:
        if isinstance(item, AfterValidator) and item.func.__name__ not in _NO_RULES:
            yield SchemaRule(place, item.func.__name__)
    if isinstance(annotation, type) and issubclass(annotation, Strict):
        for name in annotation.__pydantic_decorators__.model_validators:
            yield SchemaRule(place, name)


_OF_ANOTHER_TYPE = {"integer": "many", "number": "much", "string": [1], "boolean": "perhaps", "array": 7, "object": 7}
MISSING = object()
"""Stands for a key that is taken away."""

_BREAKS: Mapping[str, Callable[[SchemaRule], Any]] = {
    "type": lambda rule: _OF_ANOTHER_TYPE[rule.says],
    "minimum": lambda rule: rule.says - 1,
    "maximum": lambda rule: rule.says + 1,
    "exclusiveMinimum": lambda rule: rule.says,
    "maxLength": lambda rule: "x" * (rule.says + 1),
    "minItems": lambda rule: [],
    "enum": lambda rule: "nonsense",
    "required": lambda rule: MISSING,
    "no other keys": lambda rule: {"colour": "red"},
    "_compiles": lambda rule: "(",
}
"""How a rule is broken, where that does not depend on the key."""

_PATTERNS: Mapping[str, Any] = {
    "sets.keep": "a week",
    "messages.topic": "twinhive.{policy}",
    "policy": "two words",
    "placement": "two words",
    "database": "sal-es",
    "root": "copies",
    "source.database": "sal-es",
    "replica.database": "",
    "dump_root": "dumps",
    "failover.reverse.dump_root": "dumps",
    "failover.reverse.staging_root": "staging",
    "staging_root": "/twinhive/staging/",
    "external_tables.preserve": "ue",
    "options.function_directories.0": "jars",
    "metastore.uris.0": "thrift://hms1",
    "gateway.uris.0": "thrift://gate1",
    "file_system.uri": "hdfs://west/path",
    "file_system.also.0": "hdfs://west/path",
    "notifications.send.0.notifier": "SlackNotifier",
    "messages.notifications.send.0.notifier": "SlackNotifier",
}
"""A text for each pattern, which it does not allow."""

_EITHER: Mapping[str, Any] = {
    "metastore": {"connection": "m", "uris": ["thrift://m:9083"]},
    "file_system": {"user": "hive"},
    "external_tables": {"base_directory": "hdfs://west/ext", "return_from": "hdfs://east/ext"},
    "notifications.send.0": {"slack": "oncall", "webhook": "pager"},
    "messages.notifications.send.0": {"slack": "oncall", "webhook": "pager"},
}


def broken(rule: SchemaRule) -> Any:
    """Return a value that breaks a rule. Raises KeyError for one that nobody has thought of."""
    key = ".".join(rule.place)
    if rule.kind == "pattern":
        return _PATTERNS[key]
    if rule.kind == "_one_of":
        return _EITHER[key]
    return _BREAKS[rule.kind](rule)


def put(document: dict[str, Any], place: tuple[str, ...], value: Any) -> dict[str, Any]:
    """Return a document with a value at a place; a mapping there is kept, with the keys of the value."""
    if not place:
        return {**document, **value} if isinstance(value, dict) else value
    name, *rest = place
    if name == "0":
        return [put({}, tuple(rest), value)]  # type: ignore[return-value]
    inner = document.get(name, {})
    if not rest and value is MISSING:
        return {key: other for key, other in document.items() if key != name}
    if not rest and isinstance(value, dict) and "colour" in value:
        return {**document, name: {**inner, **value}}
    return {**document, name: put(inner, tuple(rest), value) if rest else value}
