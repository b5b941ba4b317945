"""What values the keys of a configuration may have: each kind with its rule, and units for people."""

import re
from dataclasses import dataclass
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from twinhive.core.model.files import short_hash

POLICY_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
LONGEST_POLICY = 100
"""Airflow's limit for the tag of a DAG, which is the policy's name."""
LONGEST_DATABASE = 128
"""The metastore's limit."""


@dataclass(frozen=True)
class Unit:
    """What a number counts; it is only shown."""

    name: str


class Strict(BaseModel):
    """A part of a configuration file: unknown keys are errors, and the docstring of each key is its reference."""

    # Patterns of Python's `re`, which is loaded anyway: those of pydantic's own take 1.6 MB. They end with `\Z`: `$`
    # would let a line break through.
    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True, regex_engine="python-re")


def _compiles(pattern: str) -> str:
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(str(error)) from error
    return pattern


def _lower(name: str) -> str:
    return name.lower()


def said_name(path_stem: str) -> str:
    """Return the name of a policy whose file does not say one that can be used."""
    return path_stem if is_policy_name(path_stem) else f"policy-{short_hash(path_stem, 8)}"


def is_policy_name(text: str) -> bool:
    """True for a name that a policy can have."""
    return POLICY_NAME.fullmatch(text) is not None and len(text) <= LONGEST_POLICY


Pattern = Annotated[str, AfterValidator(_compiles), Unit("regular expression")]
PolicyName = Annotated[
    str,
    Field(pattern=rf"^{POLICY_NAME.pattern}\Z", max_length=LONGEST_POLICY),
    Unit("at most 100 letters, digits, `_`, `-`"),
]
DatabaseName = Annotated[
    str, Field(pattern=r"^\w+\Z", max_length=LONGEST_DATABASE), AfterValidator(_lower), Unit("name (`\\w+`), any case")
]
AbsolutePath = Annotated[
    str,
    Field(pattern=r"^([a-z][a-z0-9+.-]*://[^/]*)?/.*[^/]\Z"),
    Unit("absolute path or URI, no slash at the end"),
]
RootUri = Annotated[str, Field(pattern=r"^[a-z][a-z0-9+.-]*://[^/]*\Z"), Unit("`scheme://authority`")]
ThriftUri = Annotated[str, Field(pattern=r"^thrift://[^:/]+:\d+\Z"), Unit("`thrift://host:port`")]
ImportPath = Annotated[str, Field(pattern=r"^[A-Za-z_]\w*(\.[A-Za-z_]\w*)+\Z"), Unit("import path")]
Letters = Annotated[str, Field(pattern=r"^[rbugpcaxt]*\Z"), Unit("letters of `rbugpcaxt`")]
