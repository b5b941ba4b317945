import pytest

from tests.support.hdfs.fake_files import InMemoryFiles
from twinhive.core.model.errors import ActNow, AlreadyThere, InvalidSettings, Missing, Refused
from twinhive.core.model.files import base_name, join
from twinhive.transfer.tree.path_rule import Layout, lay_out
from twinhive.transfer.tree.request import SyncOptions, SyncRequest
from twinhive.transfer.tree.work_directories import Places, is_ours


class Case:
    def __init__(self, *, same_cluster: bool = False, west: str = "hdfs://west") -> None:
        self.east = InMemoryFiles("hdfs://east")
        self.west = self.east if same_cluster else InMemoryFiles(west)
        self.east.put("hdfs://east/d/f", b"1")
        self.east.put("hdfs://east/e/f", b"2")
        self.east.put("hdfs://east/other/d/f", b"3")

    def lay(self, *sources: str, target: str, **given: object) -> Layout:
        request = SyncRequest(sources, target, SyncOptions.of(given))
        before = [dict(files._tree.nodes) for files in (self.east, self.west)]
        try:
            return lay_out(request, self.east, self.west)
        finally:
            assert [dict(files._tree.nodes) for files in (self.east, self.west)] == before


def finals(layout: Layout) -> dict[str, str]:
    return {root.source.path: join(layout.places.base, root.relative) for root in layout.roots}


class TestOneDirectory:
    @pytest.mark.parametrize("target_exists", [True, False])
    def test_its_contents_become_the_targets_whether_that_exists_or_not(self, target_exists: bool) -> None:
        case = Case()
        if target_exists:
            case.west.make_directories("hdfs://west/t")
        layout = case.lay("hdfs://east/d", target="hdfs://west/t")

        assert finals(layout) == {"hdfs://east/d": "hdfs://west/t"}
        assert layout.places.is_new is not target_exists
        assert (layout.roots[0].target is not None) == target_exists

    def test_slashes_at_the_end_change_nothing(self) -> None:
        case = Case()
        assert case.lay("hdfs://east/d/", target="hdfs://west/t//") == case.lay("hdfs://east/d", target="hdfs://west/t")

    def test_a_whole_file_system_can_be_copied_and_be_a_target(self) -> None:
        layout = Case().lay("hdfs://east/", target="hdfs://west/")

        assert layout.places.base == "hdfs://west/"
        assert layout.places.final("a/b") == "hdfs://west/a/b"
        assert layout.places.work == "hdfs://west/.twinhive/work"

    def test_a_file_is_in_its_way(self) -> None:
        case = Case()
        case.west.put("hdfs://west/t")
        with pytest.raises(AlreadyThere, match="a file"):
            case.lay("hdfs://east/d", target="hdfs://west/t")


class TestOneFile:
    def test_it_is_put_into_a_directory(self) -> None:
        case = Case()
        case.west.make_directories("hdfs://west/t")
        layout = case.lay("hdfs://east/d/f", target="hdfs://west/t")

        assert finals(layout) == {"hdfs://east/d/f": "hdfs://west/t/f"}
        assert layout.places.base == "hdfs://west/t"

    @pytest.mark.parametrize("there", ["nothing", "file", "no directory either"])
    def test_it_becomes_the_target_otherwise(self, there: str) -> None:
        case = Case()
        if there == "file":
            case.west.put("hdfs://west/t/g")
        elif there == "nothing":
            case.west.make_directories("hdfs://west/t")
        layout = case.lay("hdfs://east/d/f", target="hdfs://west/t/g")

        assert finals(layout) == {"hdfs://east/d/f": "hdfs://west/t/g"}
        is_new = there == "no directory either"
        assert layout.places == Places("hdfs://west/t", is_new, only="" if is_new else "g")

    def test_a_directory_of_its_name_is_in_its_way(self) -> None:
        case = Case()
        case.west.make_directories("hdfs://west/t/f")
        with pytest.raises(AlreadyThere, match="hdfs://west/t/f"):
            case.lay("hdfs://east/d/f", target="hdfs://west/t")


class TestSeveral:
    def test_each_is_put_below_the_target_under_its_own_name(self) -> None:
        layout = Case().lay("hdfs://east/d", "hdfs://east/e", "hdfs://east/e/f", target="hdfs://west/t")

        assert finals(layout) == {
            "hdfs://east/d": "hdfs://west/t/d",
            "hdfs://east/e": "hdfs://west/t/e",
            "hdfs://east/e/f": "hdfs://west/t/f",
        }

    def test_two_of_one_name_are_an_error_that_names_both(self) -> None:
        with pytest.raises(InvalidSettings, match="2 sources would have the name d") as caught:
            Case().lay("hdfs://east/d", "hdfs://east/other/d", target="hdfs://west/t")

        assert "hdfs://east/d, hdfs://east/other/d" in str(caught.value)

    def test_one_given_twice_is_an_error(self) -> None:
        with pytest.raises(InvalidSettings, match="would have the name d"):
            Case().lay("hdfs://east/d", "hdfs://east/d/", target="hdfs://west/t")

    def test_a_file_as_their_target_is_an_error(self) -> None:
        case = Case()
        case.west.put("hdfs://west/t")
        with pytest.raises(AlreadyThere, match="2 sources"):
            case.lay("hdfs://east/d", "hdfs://east/e", target="hdfs://west/t")

    def test_a_whole_file_system_has_no_name_among_them(self) -> None:
        with pytest.raises(InvalidSettings, match="no name"):
            Case().lay("hdfs://east/", "hdfs://east/d", target="hdfs://west/t")

    @pytest.mark.parametrize(
        ("sources", "target", "text"),
        [
            (("other/d", "t/d/deep/e"), "t", "east/t/d/deep/e: .* by the copy of hdfs://east/other/d"),
            (("t/d/deep/e", "other/d"), "t", "east/t/d/deep/e: .* by the copy of hdfs://east/other/d"),
            (("other/d", "t/d/f"), "t", "east/t/d/f: .* by the copy of hdfs://east/other/d"),
            (("other/d", "t/d/e"), "t", "east/t/d/e: .* by the copy of hdfs://east/other/d"),
            (("e/f", "t"), "t", "t/f: the target lies in the source hdfs://east/t"),
            (("e", "t/e/t"), "t", "east/t/e/t: .* by the copy of hdfs://east/e"),
        ],
    )
    def test_the_copy_of_one_must_not_change_another(self, sources: tuple[str, ...], target: str, text: str) -> None:
        case = Case(same_cluster=True)
        for path in ("t/d/deep/e/g", "t/d/e/g", "t/d/f", "t/e/t"):
            case.east.put(f"hdfs://east/{path}")
        with pytest.raises(InvalidSettings, match=text):
            case.lay(*(f"hdfs://east/{source}" for source in sources), target=f"hdfs://east/{target}", delete="trash")

    def test_one_in_another_is_fine_while_both_are_apart_from_the_target(self) -> None:
        layout = Case().lay("hdfs://east/other", "hdfs://east/other/d", target="hdfs://west/t")
        assert len(layout.roots) == 2


@pytest.mark.parametrize(
    ("sources", "target", "error", "text"),
    [
        (("hdfs://east/none",), "hdfs://east/t", Missing, "does not exist"),
        (("hdfs://east/d", "hdfs://east/none"), "hdfs://east/t", Missing, "does not exist"),
        ((), "hdfs://east/t", InvalidSettings, "nothing to copy"),
        (("hdfs://east/d",), "hdfs://east/d", InvalidSettings, "the same"),
        (("hdfs://east/d",), "hdfs://east/d/", InvalidSettings, "the same"),
        (("hdfs://east/d/f",), "hdfs://east/d/f", InvalidSettings, "the same"),
        (("hdfs://east/d/f",), "hdfs://east/d", InvalidSettings, "the same"),
        (("hdfs://east/d", "hdfs://east/e"), "hdfs://east/", InvalidSettings, "the same"),
        (("hdfs://east/d",), "hdfs://east/d/t", InvalidSettings, "lies in its source"),
        (("hdfs://east/d", "hdfs://east/e"), "hdfs://east/d", InvalidSettings, "lies in its source"),
        (("hdfs://east/other/d",), "hdfs://east/other", InvalidSettings, "lies in its target"),
        (("hdfs://east/d",), "hdfs://east/t/.twinhive/x", InvalidSettings, "no place for a copy"),
        (("hdfs://east/d",), "hdfs://east/t/.snapshot/x", InvalidSettings, "no place for a copy"),
        (("hdfs://west/d",), "hdfs://east/t", InvalidSettings, "another file system"),
        (("hdfs://east/d",), "hdfs://west/t", InvalidSettings, "another file system"),
    ],
)
def test_bad_input_is_an_error_before_anything_is_changed(
    sources: tuple[str, ...], target: str, error: type[ActNow], text: str
) -> None:
    with pytest.raises(error, match=text):
        Case(same_cluster=True).lay(*sources, target=target)


def test_a_pattern_is_a_name_and_the_error_says_what_to_do() -> None:
    case = Case()
    with pytest.raises(Missing, match="patterns are not looked at") as caught:
        case.lay("hdfs://east/*", target="hdfs://west/t")
    assert "--sources-from" in str(caught.value)
    case.east.put("hdfs://east/d*/f")
    assert finals(case.lay("hdfs://east/d*", target="hdfs://west/t")) == {"hdfs://east/d*": "hdfs://west/t"}


def test_a_neighbour_with_a_longer_name_is_not_inside() -> None:
    layout = Case(same_cluster=True).lay("hdfs://east/d", target="hdfs://east/d2")
    assert finals(layout) == {"hdfs://east/d": "hdfs://east/d2"}


@pytest.mark.parametrize("scheme", ["s3a", "gs", "oss", "wasb", "http"])
def test_a_store_that_cannot_rename_is_no_target(scheme: str) -> None:
    with pytest.raises(Refused, match=f"which {scheme} cannot do"):
        Case(west=f"{scheme}://bucket").lay("hdfs://east/d", target=f"{scheme}://bucket/t")


@pytest.mark.parametrize("scheme", ["hdfs", "viewfs", "ofs", "abfss", "file"])
def test_a_store_that_can_is_one(scheme: str) -> None:
    assert Case(west=f"{scheme}://x").lay("hdfs://east/d", target=f"{scheme}://x/t").places.base == f"{scheme}://x/t"


@pytest.mark.parametrize("side", ["source", "target"])
def test_a_symbolic_link_is_neither_source_nor_target(side: str) -> None:
    case = Case()
    case.east.link("hdfs://east/link")
    case.west.link("hdfs://west/link")
    source = "hdfs://east/link" if side == "source" else "hdfs://east/d"
    with pytest.raises(Refused, match="symbolic link"):
        case.lay(source, target="hdfs://west/link" if side == "target" else "hdfs://west/t")


class TestStaging:
    def test_work_is_done_there(self) -> None:
        case = Case()
        case.west.make_directories("hdfs://west/t")
        layout = case.lay("hdfs://east/d", target="hdfs://west/t", staging="hdfs://west/tmp/")

        assert layout.places.work.startswith("hdfs://west/tmp/.twinhive-t-")

    def test_it_must_be_on_the_targets_file_system(self) -> None:
        with pytest.raises(InvalidSettings, match="not on the target's file system"):
            Case().lay("hdfs://east/d", target="hdfs://west/t", staging="hdfs://east/tmp")

    @pytest.mark.parametrize("staging", ["hdfs://east/t", "hdfs://east/t/tmp", "hdfs://east/d", "hdfs://east/d/tmp"])
    def test_it_must_not_lie_in_source_or_target(self, staging: str) -> None:
        with pytest.raises(InvalidSettings, match="would be taken for content"):
            Case(same_cluster=True).lay("hdfs://east/d", target="hdfs://east/t", staging=staging)


class TestAtomic:
    def test_the_target_must_be_new(self) -> None:
        case = Case()
        assert case.lay("hdfs://east/d", target="hdfs://west/t", atomic=True).places.is_new
        case.west.make_directories("hdfs://west/t")
        with pytest.raises(AlreadyThere, match="an atomic copy has to make its target"):
            case.lay("hdfs://east/d", target="hdfs://west/t", atomic=True)
        with pytest.raises(AlreadyThere, match="an atomic copy has to make its target"):
            case.lay("hdfs://east/d", "hdfs://east/e", target="hdfs://west/t", atomic=True)

    def test_a_file_may_be_new_in_a_directory_that_exists(self) -> None:
        case = Case()
        case.west.make_directories("hdfs://west/t")
        assert case.lay("hdfs://east/d/f", target="hdfs://west/t", atomic=True)


class TestPlaces:
    def test_work_on_a_new_target_is_done_beside_it(self) -> None:
        places = Places("hdfs://west/a/t", is_new=True)

        assert places.work.startswith("hdfs://west/a/.twinhive-t-")
        assert places.built("x/y") == f"{places.work}/tree/x/y"

    @pytest.mark.parametrize("name", ["x" * 229, "日" * 85, "p=" + "%2F" * 84])
    def test_a_directory_whose_name_has_all_the_bytes_that_hdfs_takes_has_one_too(self, name: str) -> None:
        places = Places(f"hdfs://west/a/{name}", is_new=True)

        assert len(base_name(places.work).encode()) <= 255
        assert is_ours(base_name(places.work))
        assert places.work != Places(f"hdfs://west/a/{name[:-1]}", is_new=True).work

    def test_what_is_built_there_is_at_its_relative_path(self) -> None:
        places = Places("hdfs://west/a/t", is_new=True)

        assert places.built("") == places.tree

    def test_work_on_an_existing_target_is_done_in_it(self) -> None:
        places = Places("hdfs://west/a/t", is_new=False)

        assert places.work == "hdfs://west/a/t/.twinhive/work"
        assert places.trash("now") == "hdfs://west/a/t/.twinhive/trash/now"

    def test_a_run_finds_the_work_of_one_before_the_target_existed(self) -> None:
        assert Places("hdfs://west/t", is_new=True).work in Places("hdfs://west/t", is_new=False).works

    def test_targets_of_one_name_do_not_share_their_work(self) -> None:
        one, other = (Places(f"hdfs://west/{above}/t", True, "hdfs://west/tmp") for above in "ab")
        assert one.work != other.work

    def test_files_of_one_name_do_not_share_a_place(self) -> None:
        places = Places("hdfs://west/t", is_new=False)
        assert len({places.unfinished(path, "w") for path in ("a/f", "b/f", "f")}) == 3
