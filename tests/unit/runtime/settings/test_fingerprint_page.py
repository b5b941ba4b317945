"""The page of the configuration says what of a policy file is not part of its fingerprint."""

import re
import warnings
from pathlib import Path

from twinhive.runtime.settings.policies import PolicySettings

PAGE = Path(__file__).parents[4] / "docs/configuration.md"
SALES = {
    "policy": "sales",
    "source": {"cluster": "east", "database": "sales"},
    "replica": {"cluster": "west", "database": "sales"},
}


def keeps_its_fingerprint(key: str) -> bool:
    policy = PolicySettings.model_validate(SALES)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a kind that the key does not have
        return policy.model_copy(update={key: "another"}).fingerprint == policy.fingerprint


def test_the_page_names_all_keys_that_may_be_changed_while_a_dump_is_under_way() -> None:
    [said] = re.findall(
        r"^Everything but (.*) and the tuning of external tables is part", PAGE.read_text(), re.MULTILINE
    )
    keys = set(PolicySettings.model_fields) - {"external_tables"}
    assert set(re.findall(r"`(\w+)`", said)) == {key for key in keys if keeps_its_fingerprint(key)}
