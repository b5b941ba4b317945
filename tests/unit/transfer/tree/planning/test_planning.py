from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.support.hdfs.planned_trees import (
    SOURCE,
    TARGET,
    Nested,
    actions,
    build,
    carry_out,
    content,
    flat,
    names,
    planned,
    sides,
    trees,
)
from twinhive.core.model.errors import Refused
from twinhive.transfer.tree.listing.path_filters import Filter
from twinhive.transfer.tree.path_rule import lay_out
from twinhive.transfer.tree.planning.make_plan import make_plan, refuse
from twinhive.transfer.tree.request import SyncOptions, SyncRequest
from twinhive.transfer.tree.tree_actions import ActionKind, FileAction

QUICK = settings(max_examples=80)


def without_conflicts(source: dict[str, bytes | None], target: dict[str, bytes | None]) -> bool:
    return all((source[path] is None) == (target[path] is None) for path in source.keys() & target.keys())


@QUICK
@given(trees, trees | st.none(), st.booleans())
def test_a_plan_makes_the_target_what_the_source_is(source: Nested, target: Nested | None, deletes: bool) -> None:
    east, west = sides(source, target)
    layout, plan = planned(east, west, delete="permanently" if deletes else "no", preserve="pt")
    wanted, before = flat(source), flat(target or {})
    with plan:
        assert bool(plan.totals.conflicts) == (not without_conflicts(wanted, before))
        if plan.totals.conflicts:
            return
        carry_out(plan, layout.places, east, west)

    assert content(west, TARGET) == (wanted if deletes else {**before, **wanted})


@QUICK
@given(trees, trees, st.data())
def test_what_a_filter_leaves_out_is_neither_copied_nor_deleted(
    source: Nested, target: Nested, data: st.DataObject
) -> None:
    expressions = st.lists(st.sampled_from(["a", "a/.*", ".*b", "[^/]*", ".*/c", "é", ".*\n"]), max_size=2)
    include, exclude = data.draw(expressions), data.draw(expressions)
    chosen = Filter.of(include, exclude)

    def takes(path: str) -> bool:
        upwards = [*_above(path), path]
        return not any(map(chosen.excludes, upwards)) and any(map(chosen.includes, upwards))

    wanted, before = flat(source), flat(target)
    assume(without_conflicts(wanted, before))
    east, west = sides(source, target)
    layout, plan = planned(east, west, delete="permanently", include=include, exclude=exclude)
    with plan:
        carry_out(plan, layout.places, east, west)
    after = content(west, TARGET)
    made = after.keys() - before.keys()

    for path in [*wanted, *before]:
        if wanted.get(path, b"") is not None and before.get(path, b"") is not None:
            assert after.get(path) == (wanted if takes(path) else before).get(path), path
    for path in [path for path in made if wanted[path] is None]:
        assert takes(path) or any(each.startswith(f"{path}/") for each in made), path
    for path in [path for path in before.keys() - after.keys() if before[path] is None]:
        assert all(takes(each) or before[each] is None for each in before if each.startswith(f"{path}/")), path


def _above(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]


@pytest.mark.thorough
@QUICK
@given(trees, trees)
def test_a_killed_run_is_resumed_from_whatever_it_has_left(source: Nested, left: Nested) -> None:
    east, west = sides(source)
    layout, plan = planned(east, west)
    plan.close()
    build(west, layout.places.tree, left)
    layout, plan = planned(east, west)
    with plan:
        copies = [FileAction.from_line(line) for line in plan.copies()]
        carry_out(plan, layout.places, east, west)

    assert content(west, TARGET) == flat(source)
    same_length = {
        path for path, bytes_ in flat(source).items() if bytes_ and len(flat(left).get(path) or b"") == len(bytes_)
    }
    assert {action.relative for action in copies if action.kind is ActionKind.CHECK} == same_length


@pytest.mark.parametrize("how", [{"mode": "overwrite"}, {"append": True}, {"exclude": ["x"], "mode": "overwrite"}])
def test_what_a_killed_run_has_copied_is_compared_whatever_the_mode(how: dict[str, object]) -> None:
    east, west = sides({"f": b"12", "g": b"12", "empty": b""})
    layout, plan = planned(east, west, **how)
    plan.close()
    build(west, layout.places.tree, {"f": b"12", "g": b"1", "empty": b""})
    _, plan = planned(east, west, **how)

    with plan:
        assert actions(plan) == {"f": ActionKind.CHECK, "g": ActionKind.REPLACE}


def test_a_new_directory_is_one_root_however_much_is_in_it() -> None:
    east, west = sides({"new": {"deep": {"er": {"f": b"1"}}}, "old": {"newer": {"f": b"1"}}}, {"old": {}})
    _, plan = planned(east, west)

    with plan:
        assert list(plan.new_roots()) == ["new", "old/newer"]
        assert {action.new_root for action in plan.directories()} == {"new", "old/newer"}


def test_a_new_target_is_one_root() -> None:
    east, west = sides({"a": {"f": b"1"}, "g": b"2"})
    _, plan = planned(east, west)

    with plan:
        assert list(plan.new_roots()) == [""]
        assert [(action.relative, action.new_root) for action in plan.directories()] == [("", ""), ("a", "")]


def test_an_empty_directory_is_made() -> None:
    east, west = sides({"empty": {}}, {})
    layout, plan = planned(east, west)
    with plan:
        carry_out(plan, layout.places, east, west)

    assert content(west, TARGET) == {"empty": None}


def test_equal_files_are_checked_once_and_those_known_to_be_equal_never() -> None:
    tree = {"same": b"12", "empty": b"", "longer": b"123", "shorter": b"1"}
    east, west = sides(tree, {**tree, "longer": b"1", "shorter": b"123"})
    _, plan = planned(east, west)

    with plan:
        assert actions(plan) == {"same": ActionKind.CHECK, "longer": ActionKind.REPLACE, "shorter": ActionKind.REPLACE}
        assert plan.totals.files[ActionKind.SKIP].files == 1


def test_directories_whose_content_changes_get_their_times_again() -> None:
    east, west = sides({"a": {"f": b"1"}, "b": {"f": b""}, "c": {}, "d": {"new": {}}}, {})
    build(west, TARGET, {"a": {}, "b": {"f": b""}, "c": {"gone": b""}, "d": {}})
    for path in ("a", "b", "b/f", "c", "d"):
        modified = east.status(f"{SOURCE}/{path}")
        node = west._tree.nodes[f"{TARGET}/{path}"]
        assert modified
        node.status = replace(node.status, modified_ms=modified.modified_ms)
    _, plan = planned(east, west, preserve="t", delete="trash")

    with plan:
        ordered = [action.relative for action in plan.attributes()]
        assert sorted(ordered) == ["", "a", "c", "d", "d/new"]
        assert ordered.index("d/new") < ordered.index("d") < ordered.index("")


def test_without_anything_to_preserve_no_directory_is_touched() -> None:
    east, west = sides({"a": {"f": b"1"}}, {"a": {"f": b"2"}})
    _, plan = planned(east, west)

    with plan:
        assert list(plan.attributes()) == []


class TestConflicts:
    def test_a_file_against_a_directory_is_named_with_both_sides_and_the_next_step(self) -> None:
        east, west = sides({"a": {}, "b": b"1"}, {"a": b"1", "b": {}})
        _, plan = planned(east, west)
        with plan, pytest.raises(Refused) as caught:
            refuse(plan, SyncOptions())

        text = str(caught.value)
        assert f"{SOURCE}/a: a directory; target: a file at {TARGET}/a" in text
        assert f"{SOURCE}/b: a file; target: a directory at {TARGET}/b" in text
        assert "exclude the path" in text

    def test_symbolic_links_are_conflicts_on_either_side(self) -> None:
        east, west = sides({"f": b"1"}, {})
        east.link(f"{SOURCE}/link")
        west.link(f"{TARGET}/f")
        _, plan = planned(east, west)

        with plan:
            assert [(each.source, each.target) for each in plan.conflicts] == [
                ("a file", f"a symbolic link at {TARGET}/f"),
                ("a symbolic link", f"nothing at {TARGET}/link"),
            ]

    def test_a_link_that_only_the_target_has_is_deleted_like_a_file(self) -> None:
        east, west = sides({"f": b""}, {"f": b""})
        west.link(f"{TARGET}/link")
        _, plan = planned(east, west, delete="trash")

        with plan:
            assert actions(plan) == {"link": ActionKind.DELETE}

    def test_a_conflict_stops_a_run_that_would_delete(self) -> None:
        east, west = sides({"a": {}}, {"a": b"1", "gone": b"2"})
        _, plan = planned(east, west, delete="permanently", force=True)
        with plan, pytest.raises(Refused, match="nothing was changed"):
            refuse(plan, SyncOptions.of({"delete": "permanently", "force": True}))

    @pytest.mark.parametrize("name", ["half \ud83d", "a:b"])
    def test_a_name_that_the_target_cannot_have_is_a_conflict(self, name: str) -> None:
        east, west = sides({name: b"1"}, {})
        _, plan = planned(east, west)

        with plan:
            assert plan.totals.conflicts == 1
            assert plan.conflicts[0].target.startswith("nothing at")
            with pytest.raises(Refused) as caught:
                refuse(plan, SyncOptions())

        assert str(caught.value).encode()

    def test_an_excluded_path_is_no_conflict(self) -> None:
        east, west = sides({"a": {}}, {"a": b"1"})
        _, plan = planned(east, west, exclude=["a"])

        with plan:
            assert plan.totals.conflicts == 0
            assert plan.totals.excluded == 1


class TestNothingIsDeletedForWantOfAListing:
    def test_an_empty_source_deletes_nothing_unless_forced(self) -> None:
        east, west = sides({}, {"a": b"1"})
        _, plan = planned(east, west, delete="trash")
        with plan:
            with pytest.raises(Refused, match="the source is empty") as caught:
                refuse(plan, SyncOptions.of({"delete": "trash"}))
            assert "again with --force" in (caught.value.words.next_step or "")
            refuse(plan, SyncOptions.of({"delete": "trash", "force": True}))
            assert actions(plan) == {"a": ActionKind.DELETE}

    def test_an_empty_source_and_an_empty_target_are_fine(self) -> None:
        east, west = sides({}, {})
        _, plan = planned(east, west, delete="trash")
        with plan:
            refuse(plan, SyncOptions.of({"delete": "trash"}))

    def test_an_unreadable_directory_fails_the_run_and_is_named(self) -> None:
        east, west = sides({"a": {"f": b"1"}, "b": {"f": b"1"}}, {})
        east.unreadable.add(f"{SOURCE}/a")
        _, plan = planned(east, west)
        with plan, pytest.raises(Refused, match=f"{SOURCE}/a: ") as caught:
            refuse(plan, SyncOptions())

        assert "--skip-unreadable" in (caught.value.words.next_step or "")

    def test_an_unreadable_directory_may_be_skipped_and_keeps_no_other_from_being_copied(self) -> None:
        east, west = sides({name: {"f": b"1"} for name in "abc"}, {})
        east.unreadable.add(f"{SOURCE}/b")
        options = {"on_unreadable": "skip"}
        layout, plan = planned(east, west, **options)
        with plan:
            refuse(plan, SyncOptions.of(options))
            carry_out(plan, layout.places, east, west)
            assert plan.totals.unreadable == 1

        assert content(west, TARGET) == {"a": None, "a/f": b"1", "c": None, "c/f": b"1"}

    def test_what_lies_below_an_unreadable_directory_stays_even_when_forced(self) -> None:
        east, west = sides({"a": {"f": b"1"}}, {"a": {"f": b"1", "g": b"2"}, "gone": b"3"})
        east.unreadable.add(f"{SOURCE}/a")
        options = {"on_unreadable": "skip", "delete": "trash"}
        _, plan = planned(east, west, **options)
        with plan:
            with pytest.raises(Refused, match="deleting needs them all") as caught:
                refuse(plan, SyncOptions.of(options))
            assert "without --delete (--force " in (caught.value.words.next_step or "")
            refuse(plan, SyncOptions.of({**options, "force": True}))
            assert actions(plan) == {"gone": ActionKind.DELETE}

    def test_a_target_that_cannot_be_listed_stops_the_run(self) -> None:
        east, west = sides({"a": {"f": b"1"}}, {"a": {"f": b"1"}})
        west.unreadable.add(f"{TARGET}/a")
        with pytest.raises(Refused, match=f"{TARGET}/a: the target cannot be listed"):
            planned(east, west)


class TestFilters:
    def test_an_excluded_file_survives_at_the_target(self) -> None:
        east, west = sides({"a": b"1"}, {"a": b"1", "keep.tmp": b"2", "gone": b"3"})
        _, plan = planned(east, west, delete="trash", exclude=[".*[.]tmp"])

        with plan:
            assert actions(plan) == {"a": ActionKind.CHECK, "gone": ActionKind.DELETE}

    def test_an_excluded_file_survives_in_a_directory_that_is_gone(self) -> None:
        east, west = sides({"a": b""}, {"a": b"", "d": {"keep.tmp": b"2", "gone": b"3", "e": {"gone": b""}}})
        _, plan = planned(east, west, delete="trash", exclude=[".*[.]tmp"])

        with plan:
            assert actions(plan) == {"d/gone": ActionKind.DELETE, "d/e": ActionKind.DELETE}

    def test_a_directory_without_anything_excluded_is_deleted_as_a_whole(self) -> None:
        east, west = sides({"a": b""}, {"a": b"", "d": {"f": b"3", "e": {"gone": b""}}})
        _, plan = planned(east, west, delete="trash", exclude=["x"])

        with plan:
            assert actions(plan) == {"d": ActionKind.DELETE}

    def test_an_excluded_directory_excludes_all_below_it(self) -> None:
        east, west = sides({"d": {"f": b"1"}, "e": b"2"}, {"d": {"other": b"3"}})
        _, plan = planned(east, west, delete="trash", exclude=["d"])

        with plan:
            assert actions(plan) == {"e": ActionKind.COPY}

    def test_only_directories_that_an_included_file_needs_are_made(self) -> None:
        east, west = sides({"a": {"b": {"f.orc": b"1"}}, "c": {"d": {"f.txt": b"2"}}}, {})
        layout, plan = planned(east, west, include=[".*[.]orc"])
        with plan:
            carry_out(plan, layout.places, east, west)

        assert content(west, TARGET) == {"a": None, "a/b": None, "a/b/f.orc": b"1"}

    def test_an_included_directory_includes_all_below_it(self) -> None:
        east, west = sides({"a": {"b": {"f": b"1"}, "empty": {}}, "c": {"f": b"2"}}, {})
        layout, plan = planned(east, west, include=["a"])
        with plan:
            carry_out(plan, layout.places, east, west)

        assert set(content(west, TARGET)) == {"a", "a/b", "a/b/f", "a/empty"}

    def test_what_is_not_included_survives_at_the_target(self) -> None:
        east, west = sides({"a.orc": b""}, {"a.orc": b"", "b.orc": b"1", "b.txt": b"2"})
        _, plan = planned(east, west, delete="trash", include=[".*[.]orc"])

        with plan:
            assert actions(plan) == {"b.orc": ActionKind.DELETE}


SEVERAL = (f"{SOURCE}/a", f"{SOURCE}/b", f"{SOURCE}/f")
OF_SEVERAL: Nested = {"a": {"x": b"1"}, "b": {"y": {"z": b"2"}}, "f": b"3"}


class TestSeveralSources:
    @pytest.mark.parametrize("target", [None, {}, {"a": {"x": b"9"}}])
    def test_each_is_copied_below_the_target(self, target: Nested | None) -> None:
        east, west = sides(OF_SEVERAL, target)
        layout, plan = planned(east, west, sources=SEVERAL)
        with plan:
            carry_out(plan, layout.places, east, west)

        assert content(west, TARGET) == flat(OF_SEVERAL)

    def test_only_what_lies_below_them_is_deleted(self) -> None:
        east, west = sides(OF_SEVERAL, {"a": {"x": b"1", "gone": b""}, "c": {"mine": b""}, "g": b""})
        _, plan = planned(east, west, sources=SEVERAL, delete="trash")

        with plan:
            assert {path for path, kind in actions(plan).items() if kind is ActionKind.DELETE} == {"a/gone"}

    def test_filters_see_paths_below_each_source(self) -> None:
        east, west = sides({"a": {"x": b"", "y": b""}, "b": {"x": b"", "y": b""}}, {})
        _, plan = planned(east, west, sources=SEVERAL[:2], exclude=["x", "a/y"])

        with plan:
            assert set(actions(plan)) == {"a/y", "b/y"}

    def test_one_that_is_empty_deletes_nothing_of_its_own(self) -> None:
        east, west = sides({"a": {}, "b": {"x": b""}}, {"a": {"kept": b""}, "b": {"gone": b""}})
        _, plan = planned(east, west, sources=SEVERAL[:2], delete="trash")

        with plan:
            assert plan.emptied == [f"{SOURCE}/a"]

    def test_what_a_killed_run_of_others_has_built_does_not_appear(self) -> None:
        east, west = sides(OF_SEVERAL)
        layout, plan = planned(east, west, sources=SEVERAL)
        plan.close()
        build(west, layout.places.tree, {**OF_SEVERAL, "other": {"f": b"1"}, ".twinhive": {"verified": {}}})
        _, plan = planned(east, west, sources=SEVERAL)
        with plan:
            assert [action.relative for action in plan.leftovers()] == ["other"]
            carry_out(plan, layout.places, east, west)

        assert content(west, TARGET) == flat(OF_SEVERAL)


class TestOneFile:
    @pytest.mark.parametrize(
        ("target", "kind"),
        [
            (None, ActionKind.COPY),
            ({}, ActionKind.COPY),
            ({"f": b"4"}, ActionKind.CHECK),
            ({"f": b"44", "g": b""}, ActionKind.REPLACE),
        ],
    )
    def test_it_alone_is_looked_at(self, target: Nested | None, kind: ActionKind) -> None:
        east, west = sides({"f": b"3", "g": b"5"}, target)
        if target is None:
            west.make_directories(TARGET)
        _, plan = planned(east, west, sources=(f"{SOURCE}/f",), delete="trash")

        with plan:
            assert actions(plan) == {"f": kind}
            assert list(plan.new_roots()) == []

    def test_a_directory_that_it_needs_is_new_with_it(self) -> None:
        east, west = sides({"f": b"3"})
        options = SyncOptions()
        layout = lay_out(SyncRequest((f"{SOURCE}/f",), f"{TARGET}/new/g", options), east, west)
        with make_plan(layout, options, east, west) as plan:
            assert list(plan.new_roots()) == [""]
            build(west, layout.places.tree, {})
            carry_out(plan, layout.places, east, west)

        assert content(west, TARGET) == {"new": None, "new/g": b"3"}


class TestOurOwnDirectories:
    def test_they_are_neither_copied_nor_deleted(self) -> None:
        ours = {".twinhive": {"trash": {"f": b"1"}}, ".twinhive-other-0123456789abcdef": {"tree": {}}}
        east, west = sides({"f": b"", "d": {}, **ours}, {"f": b"", "d": {**ours}, **ours})
        _, plan = planned(east, west, delete="permanently")

        with plan:
            assert plan.changes == 0

    def test_a_name_that_only_begins_like_ours_is_copied(self) -> None:
        east, west = sides({".twinhive-notes": b"1"}, {})
        _, plan = planned(east, west)

        with plan:
            assert actions(plan) == {".twinhive-notes": ActionKind.COPY}


@given(st.lists(names, min_size=1, max_size=3).map("/".join))
@settings(max_examples=30)
def test_awkward_names_come_through(path: str) -> None:
    east, west = sides({})
    east.put(f"{SOURCE}/{path}", b"1")
    layout, plan = planned(east, west)
    with plan:
        carry_out(plan, layout.places, east, west)

    assert content(west, TARGET)[path] == b"1"
