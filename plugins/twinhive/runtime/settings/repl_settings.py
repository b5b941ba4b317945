"""How one REPL statement is run: what its `WITH`, a policy file and the defaults say together."""

from dataclasses import dataclass, field
from typing import Literal

from twinhive.core.model.external.modes import External
from twinhive.core.model.policy import Options
from twinhive.runtime.settings.policies import PolicySettings

LayoutChoice = Literal["twinhive", "hive"]
PlaceChoice = Literal["own", "hive"]
_DAY = 86_400


@dataclass(frozen=True)
class ReplSettings:
    """The settings of a REPL DUMP, REPL LOAD or REPL STATUS; `hive_key_table.KEYS` explains each.

    Directories are absolute paths or URIs without a slash at the end, unless they are a root; durations are seconds.
    """

    options: Options = field(default_factory=Options)
    external: External = field(default_factory=External)
    root_directory: str = "/user/hive/repl"
    layout: LayoutChoice = "twinhive"
    metadata_only: bool = False
    bootstrap_external_tables: bool = False
    dump_ttl_seconds: int = 7 * _DAY
    retain_previous_dumps: bool = False
    places: PlaceChoice = "own"
    staging_root: str = PolicySettings.model_fields["staging_root"].default
