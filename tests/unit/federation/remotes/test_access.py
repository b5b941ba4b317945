"""Nothing is reached that `remotes.yaml` does not allow."""

from pathlib import Path

import pytest

from tests.support.policies import PolicyFiles
from twinhive.core.model.connections import parse_connection
from twinhive.core.model.errors import InvalidSettings, Refused
from twinhive.core.model.remotes.definitions import RemoteDatabase
from twinhive.federation.remotes.access import Access, Allowed
from twinhive.runtime.settings import load_configuration
from twinhive.runtime.settings.remotes import RemotesFile, load_remotes
from twinhive.runtime.wiring.gateway_wiring import RemotesWiring

RULES = (
    Allowed("thrift", ("thrift://*.east.example:9083",), "reader"),
    Allowed("thrift", ("thrift://*",)),
    Allowed("ssh", ("ssh://bastion:22", "thrift://hms:9083")),
)


def test_the_first_rule_that_holds_says_as_whom() -> None:
    access = Access(RULES)
    assert access.rule_for("far", "thrift", ["thrift://A.east.example:9083"]).user == "reader"
    assert access.rule_for("far", "thrift", ["thrift://b:1"]).user is None
    assert access.rule_for("far", "ssh", ["ssh://bastion:22", "thrift://hms:9083"]).connector == "ssh"


def test_without_rules_and_without_addresses_nothing_is_allowed() -> None:
    for access, addresses in ((Access(), ["thrift://a:1"]), (Access(RULES), [])):
        with pytest.raises(Refused):
            access.rule_for("far", "thrift", addresses)


def test_a_key_file_is_found_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "id.pem").write_text("key")
    assert Access(key_directory=tmp_path).key_file("id.pem") == tmp_path / "id.pem"
    for name in ("", ".", "..", "/etc/hostname", "id.pem/", "nothing", "../id.pem"):
        with pytest.raises(Refused):
            Access(key_directory=tmp_path).key_file(name)


def test_a_file_is_read_and_without_one_only_clusters_are_allowed(tmp_path: Path) -> None:
    path = tmp_path / "remotes.yaml"
    assert load_remotes(path) == RemotesFile(clusters=True, allow=(), key_directory=None)
    path.write_text("clusters: false\nallow:\n- {connector: ssh, addresses: ['ssh://*'], identity: reader}\n")
    found = load_remotes(path)
    assert (found.clusters, found.allow[0].connector, found.allow[0].identity) == (False, "ssh", "reader")


def test_what_a_rule_says_of_a_cluster_comes_before_what_holds_without_a_word(tmp_path: Path) -> None:
    """Who writes that west is asked as a reader means it, also while clusters may be reached as the caller."""
    at = parse_connection("any", '{"host": "hms", "port": 9083}')
    policies = PolicyFiles(tmp_path / "config")
    far = RemoteDatabase("far", "sales", properties={"hive.metastore.uris": "thrift://hms:9083"})

    def user() -> str | None:
        wiring = RemotesWiring(load_configuration(policies.directory), "east", lambda connection_id: at)
        return wiring.reached(far).user

    assert user() is None
    policies.write("remotes.yaml", {"allow": [{"addresses": ["thrift://hms:9083"], "identity": "reader"}]})
    assert user() == "reader"


@pytest.mark.parametrize("text", ["[]", "false", "0", "text"])
def test_a_file_that_holds_no_rules_allows_nothing(tmp_path: Path, text: str) -> None:
    path = tmp_path / "remotes.yaml"
    path.write_text(text)
    with pytest.raises(InvalidSettings):
        load_remotes(path)


def test_a_link_that_leads_nowhere_is_no_missing_file(tmp_path: Path) -> None:
    (tmp_path / "remotes.yaml").symlink_to(tmp_path / "nothing")
    with pytest.raises(InvalidSettings):
        load_remotes(tmp_path / "remotes.yaml")


def test_only_the_star_stands_for_others() -> None:
    access = Access((Allowed("thrift", ("thrift://[::1]:9083", "thrift://h?:1", "thrift://a.b:1")),))
    assert access.rule_for("far", "thrift", ["thrift://[::1]:9083"])
    for address in ("thrift://:9083", "thrift://hx:1", "thrift://axb:1"):
        with pytest.raises(Refused):
            access.rule_for("far", "thrift", [address])
