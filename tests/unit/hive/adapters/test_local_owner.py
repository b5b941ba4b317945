import getpass
from pathlib import Path

from twinhive.hive.adapters.local.local_owner import LocalOwner


def test_a_file_has_an_owner_and_the_permission_that_it_was_given(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.touch()
    path.chmod(0o4640)
    found = LocalOwner.of(path)
    assert (found.owner, found.permission, found.is_link) == (getpass.getuser(), 0o640, False)
    assert found.group


def test_a_link_is_one_wherever_it_leads(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "nowhere")
    assert LocalOwner.of(link).is_link


def test_of_what_is_gone_nothing_is_known(tmp_path: Path) -> None:
    assert LocalOwner.of(tmp_path / "gone") == LocalOwner()
