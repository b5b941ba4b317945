"""Where the sandbox keeps things, and what it refuses to delete."""

from pathlib import Path

import pytest

from sandbox.errors import SandboxError
from sandbox.layout import Layout, moved, new_record
from sandbox.paths import cache_root, instance_key, state_root


def test_settings_win_over_defaults():
    assert state_root({"TWINHIVE_STATE": "/s"}, user_id=0) == Path("/s")
    assert cache_root({"TWINHIVE_CACHE": "/c", "XDG_CACHE_HOME": "/x"}) == Path("/c")


def test_root_keeps_its_state_where_other_users_can_enter():
    assert state_root({"XDG_STATE_HOME": "/x"}, user_id=0) == Path("/var/lib/twinhive")
    assert state_root({"XDG_STATE_HOME": "/x"}, user_id=1000) == Path("/x/twinhive")


def test_two_checkouts_do_not_share_an_instance():
    assert instance_key("demo", Path("/a")) != instance_key("demo", Path("/b"))
    assert instance_key("demo", Path("/a")).startswith("demo-")


def test_a_record_survives_being_written(tmp_path):
    layout = Layout(tmp_path / "instance")
    assert layout.read_record() is None
    record = new_record("test", Path("/a b"), 21000)
    layout.write_record(moved(record, 21040))
    assert layout.read_record() == moved(record, 21040)


def test_a_directory_that_is_not_ours_is_not_deleted(tmp_path):
    (tmp_path / "precious").touch()
    with pytest.raises(SandboxError, match="not deleted"):
        Layout(tmp_path).delete()
    assert (tmp_path / "precious").exists()


def test_a_record_of_another_kind_is_refused(tmp_path):
    (tmp_path / "instance.json").write_text('{"kind": "something else"}')
    with pytest.raises(SandboxError, match="not a sandbox"):
        Layout(tmp_path).delete()


def test_our_directory_is_deleted(tmp_path):
    layout = Layout(tmp_path / "instance")
    layout.write_record(new_record("test", Path("/a"), 21000))
    layout.delete()
    assert not layout.root.exists()
