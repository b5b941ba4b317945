"""The page 'Replication' inside Airflow's API server: who may see it, what it says, and that nothing runs in it."""

import re
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.dags.page_client import add_run, anonymous, api_server, know_dags, know_policies, signed_in
from tests.dags.policies.test_plugins_folder import PLUGINS, load_plugins
from tests.support.journal_records import a_batch, a_failure, a_state, a_table, a_window
from tests.support.servers.status_port import DOWN, WELL, a_count, nowhere, status_port
from twinhive.core.model.watching.load_progress import LoadProgress
from twinhive.operations.journal.records import HeldSets, RecordedCopies, RecordedProof, RecordedPublisher, RecordedSet
from twinhive.operations.journal.writing import Journal
from twinhive.surfaces.page.airflow_links import MONITOR

# Without a slash, so that it may be part of an address.
EVIL = "<script>alert('x')\"onmouseover=\"y"
ESCAPED = "&lt;script&gt;alert(&#39;x&#39;)&#34;onmouseover=&#34;y"
ROOT = "/replication"


@pytest.fixture
def journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Journal:
    """The journal of Airflow, empty."""
    url = f"sqlite:///{tmp_path / 'journal.db'}"
    monkeypatch.setenv("TWINHIVE_JOURNAL", url)
    # On a machine that is busy a write may take longer than a task would wait for it.
    return Journal(url, patience=60)


@pytest.fixture
def viewer(journal: Journal) -> TestClient:
    """A user who may look at everything and change nothing; Airflow knows the policy sales."""
    client = signed_in()
    know_policies(["sales"])
    return client


def page_of(client: TestClient, path: str = "/", status: int = 200) -> str:
    """Open a page; return its HTML without line breaks."""
    answer = client.get(f"{ROOT}{path}")
    assert answer.status_code == status, answer.text
    return re.sub(r"\s+", " ", answer.text)


def paths_of_all_routes() -> list[str]:
    """Return an address for each route that the page has."""
    from twinhive.surfaces.page.page_app import app

    return [re.sub(r"{\w+(:\w+)?}", "anything", getattr(route, "path", "/mounted")) for route in app.routes]


def test_there_are_routes_to_ask() -> None:
    assert {"/", "/policies/anything", "/static/anything", "/anything"} <= set(paths_of_all_routes())


@pytest.mark.parametrize(
    "path", [*paths_of_all_routes(), "/static/page.css", "/docs", "/redoc", "/openapi.json", "/policies/sales?page=x"]
)
def test_the_anonymous_see_nothing_on_any_route(path: str) -> None:
    assert anonymous().get(f"{ROOT}{path}").status_code == 401


def test_who_may_not_see_plugins_is_refused() -> None:
    client = signed_in(role=None)
    assert {client.get(f"{ROOT}{path}").status_code for path in paths_of_all_routes()} == {403}


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_nothing_can_be_written(method: str, viewer: TestClient) -> None:
    codes = {viewer.request(method, f"{ROOT}{path}").status_code for path in paths_of_all_routes()}
    assert codes == {405}


@pytest.mark.parametrize("path", ["/docs", "/redoc", "/openapi.json"])
def test_the_page_does_not_describe_itself(path: str, viewer: TestClient) -> None:
    assert "There is no page" in page_of(viewer, path, 404)


def test_the_plugin_puts_the_page_into_the_navigation(viewer: TestClient) -> None:
    plugins = signed_in("admin").get("/api/v2/plugins").json()["plugins"]
    [ours] = [plugin for plugin in plugins if plugin["name"] == "twinhive"]
    [view] = ours["external_views"]
    assert (view["name"], view["destination"], view["nav_top_level"]) == ("Replication", "nav", True)
    assert viewer.get(f"/{view['href']}").status_code == 200


def test_only_the_api_server_pays_for_the_page() -> None:
    modules = load_plugins(PLUGINS)["modules"]
    assert "twinhive_plugin" in modules
    assert [name for name in modules if name.startswith("twinhive.surfaces.page")] == []


def test_all_policies_are_listed_the_most_troubled_first(viewer: TestClient, journal: Journal) -> None:
    know_policies(["calm", "late", "lost"])
    now = time.time()
    journal.record_states(
        [
            a_state("calm", at=now, source="east/calm", replica="west/calm", replicated=4_711, newest=4_712),
            a_state("late", at=now, lag_seconds=1_000.0, lag_events=12, max_lag=600.0),
            a_state("lost", at=now, phase="unreachable", trouble="west does not answer"),
        ]
    )
    add_run("calm.incremental", "scheduled__1", "success", now - 130)
    html = page_of(viewer)
    assert html.index(">lost</a>") < html.index(">late</a>") < html.index(">calm</a>")
    assert '3 policies, <strong class="bad">2 in trouble</strong>' in html
    for said in ("east/calm → west/calm", "16 min behind, 10 min allowed", "west does not answer", "4711", "of 4712"):
        assert said in html
    assert 'href="/dags/calm.incremental/runs/scheduled__1" target="_top"' in html
    assert "incremental, 2 min ago" in html


def test_a_policy_that_nobody_has_looked_at_yet_is_named_until_its_file_is_gone(
    viewer: TestClient, journal: Journal
) -> None:
    know_policies(["sales", "fresh"])
    journal.record_state(a_state("sales", at=time.time()))
    assert 'Not looked at yet: <a href="/replication/policies/fresh">fresh</a>' in page_of(viewer)
    assert "Nothing is recorded yet" in page_of(viewer, "/policies/fresh")
    know_dags("sales.incremental", stale=["fresh.incremental"])
    assert "fresh" not in page_of(viewer)


def test_policies_can_be_searched_and_only_those_in_trouble_shown(viewer: TestClient, journal: Journal) -> None:
    know_policies(["calm", "late"])
    now = time.time()
    journal.record_states([a_state("calm", at=now), a_state("late", at=now, lag_seconds=9.0, max_lag=1.0)])
    assert ">calm</a>" not in page_of(viewer, "/?troubled=true")
    assert ">late</a>" in page_of(viewer, "/?troubled=true")
    assert ">late</a>" not in page_of(viewer, "/?search=CALM")
    assert "No policy matches “nowhere”" in page_of(viewer, "/?search=nowhere")


def test_fifty_policies_are_a_page(viewer: TestClient, journal: Journal) -> None:
    names = [f"p{number:03d}" for number in range(120)]
    know_policies(names)
    journal.record_states([a_state(name, at=time.time()) for name in names])
    pages = [re.findall(r"policies/(p\d+)\"", page_of(viewer, f"/?page={number}")) for number in (1, 2, 3)]
    assert [len(page) for page in pages] == [50, 50, 20]
    assert sorted(name for page in pages for name in page) == names
    assert re.findall(r"policies/(p\d+)\"", page_of(viewer, "/?page=99")) == pages[2]
    assert "101\N{EN DASH}120 of 120 policies" in page_of(viewer, "/?page=3")


def test_a_policy_is_shown_to_those_who_may_read_its_incremental_dag(
    viewer: TestClient, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    from airflow.api_fastapi.app import get_auth_manager

    know_policies(["mine", "theirs"])
    journal.record_states([a_state("mine", at=time.time()), a_state("theirs", at=time.time())])
    assert "2 policies" in page_of(viewer)
    only_mine = {"mine.incremental", "theirs.scan"}
    monkeypatch.setattr(get_auth_manager(), "get_authorized_dag_ids", lambda **_: only_mine)
    html = page_of(viewer)
    assert ">mine</a>" in html
    assert "theirs" not in html
    assert "1 policy" in html
    assert "There is no policy theirs" in page_of(viewer, "/policies/theirs", 404)


def test_old_samples_are_called_old_and_a_paused_monitor_is_named(viewer: TestClient, journal: Journal) -> None:
    know_dags("sales.incremental", "twinhive.monitor", paused=True)
    journal.record_state(a_state("sales", at=time.time() - 725))
    said = "Last looked at 12 min ago: twinhive.monitor is paused."
    assert said in page_of(viewer)
    assert said in page_of(viewer, "/policies/sales")
    journal.record_state(a_state("sales", at=time.time()))
    assert "twinhive.monitor" not in page_of(viewer)


def test_an_empty_journal_says_what_to_do_and_shows_the_policies_of_airflow(viewer: TestClient) -> None:
    know_dags("sales.incremental", "twinhive.monitor", paused=True)
    html = page_of(viewer)
    assert "Nothing is recorded yet: twinhive.monitor is paused. Unpause it" in html
    assert 'href="/dags/twinhive.monitor"' in html
    assert ">sales</a>" in html
    assert "Nothing is recorded yet" in page_of(viewer, "/policies/sales")


@pytest.mark.parametrize("url", ["postgresql+psycopg2://nobody@127.0.0.1:1/none", "nonsense://", "sqlite:////proc/x/y"])
def test_a_journal_that_is_down_is_one_line_and_the_runs_are_still_shown(
    url: str, viewer: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TWINHIVE_JOURNAL", url)
    add_run("sales.incremental", "scheduled__9", "failed", time.time() - 61)
    for path in ("/", "/policies/sales"):
        html = page_of(viewer, path)
        assert html.count("Only Airflow&#39;s runs are shown") == 1
        assert "/dags/sales.incremental/runs/scheduled__9" in html
        assert "Traceback" not in html


def test_an_unknown_policy_is_a_page_that_says_so(viewer: TestClient) -> None:
    html = page_of(viewer, "/policies/nowhere", 404)
    assert "There is no policy nowhere that you may see" in html
    assert 'href="/replication/"' in html


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/?page=0", "page: Input should be greater"),
        ("/policies/sales?span=9y", "span: Input should be"),
        ("/?page=x", "x"),
    ],
)
def test_an_address_that_cannot_be_used_says_which_part(path: str, said: str, viewer: TestClient) -> None:
    assert said in page_of(viewer, path, 400)


@pytest.fixture
def filled(viewer: TestClient, journal: Journal) -> Journal:
    """The journal of a policy to which everything has happened."""
    now = time.time()
    for ago in (3_000, 2_400, 1_800, 1_200, 600, 0):
        journal.record_state(a_state("sales", at=now - ago, lag_seconds=ago / 3, lag_events=5, max_lag=900.0))
    journal.record_failure(
        a_failure(
            at=now - 60,
            map_index=3,
            task_id="copy",
            try_number=2,
            act_now=True,
            kind="Missing",
            what="the file of event 7 is lost",
            found="nothing at its path",
            expected="18 bytes",
            next_step="bring it over with: twinhive resync sales 'x|sh'",
            commands="twinhive resync sales 'x|sh'",
        )
    )
    journal.record_window(a_window(began=now - 90, batches=2))
    journal.record_batch(a_batch("b1", label="sales.orders +3 tables", ended=now - 30, files=7, bytes=2_048))
    journal.replace_tables(
        "sales",
        [
            a_table("orders", state="quarantined", reason="its file is lost"),
            a_table("acid", state="left out", reason="transactional tables are not replicated", last_event=None),
            a_table("lake", kind="external", last_sync=now - 240),
            *(a_table(f"t{number:03d}") for number in range(120)),
        ],
    )
    return journal


@pytest.mark.usefixtures("filled")
def test_an_error_shows_what_was_found_and_the_command_to_copy(viewer: TestClient) -> None:
    html = page_of(viewer, "/policies/sales")
    for said in ("the file of event 7 is lost", "nothing at its path", "18 bytes", "a person must act"):
        assert said in html
    assert 'data-copy="twinhive resync sales &#39;x|sh&#39;"' in html
    assert 'href="/dags/sales.incremental/runs/first/tasks/copy/mapped/3?try_number=2"' in html
    assert 'href="/dags/sales.operate" target="_top"' in html


@pytest.mark.usefixtures("filled")
@pytest.mark.parametrize("span", ["1h", "24h", "7d"])
def test_the_lag_is_drawn_over_time(span: str, viewer: TestClient) -> None:
    html = page_of(viewer, f"/policies/sales?span={span}")
    assert html.count('class="line"') == 1
    assert "16 min, 5 events" in html
    assert "max_lag 15 min" in html
    assert f'aria-current="true">{span}<' in html


@pytest.mark.usefixtures("filled")
def test_windows_show_their_batches(viewer: TestClient) -> None:
    html = page_of(viewer, "/policies/sales")
    assert "incremental-1-9-abcd" in html
    assert "sales.orders +3 tables" not in html
    html = page_of(viewer, "/policies/sales?dump=incremental-1-9-abcd")
    assert "sales.orders +3 tables" in html
    assert "2.0 kB" in html


@pytest.mark.usefixtures("filled")
def test_tables_are_paged_searched_and_chosen_by_state(viewer: TestClient) -> None:
    def shown(path: str) -> list[str]:
        rows = page_of(viewer, f"/policies/sales{path}").partition('id="tables"')[2]
        return re.findall(r'<tr> <td class="name">([^<]+)</td>', rows)

    assert len(shown("")) == 100
    assert len(shown("?page=2")) == 23
    assert shown("?search=LAK") == ["lake"]
    assert shown("?state=quarantined") == ["orders"]
    html = page_of(viewer, "/policies/sales")
    for said in ("quarantined 1", "left out 1", "published 121", "its file is lost", "4 min ago"):
        assert said in html
    assert "acid</dt><dd>transactional tables are not replicated" in html


def test_whatever_people_have_written_stays_text(viewer: TestClient, journal: Journal) -> None:
    know_dags(f"{EVIL}.incremental")
    now = time.time()
    texts: dict[str, Any] = dict.fromkeys(("what", "found", "expected", "next_step", "run_id", "kind"), EVIL)
    journal.record_state(a_state(EVIL, at=now, source=EVIL, replica=EVIL, trouble=EVIL, paused=EVIL, phase=EVIL))
    journal.record_failure(a_failure(EVIL, at=now, dag_id=f"{EVIL}.incremental", task_id=EVIL, **texts))
    journal.record_window(a_window(EVIL, dump=EVIL, run_id=EVIL, phase=EVIL, outcome=EVIL, batches=1))
    journal.record_batch(a_batch(EVIL, policy=EVIL, dump=EVIL, label=EVIL, task_id=EVIL))
    journal.replace_tables(
        EVIL,
        [
            a_table(EVIL, policy=EVIL, state=EVIL, reason=EVIL, kind=EVIL),
            a_table(f"{EVIL}2", policy=EVIL, state="left out", reason=EVIL),
        ],
    )
    for path in ("/", f"/?search={EVIL}", f"/policies/{EVIL}", f"/policies/{EVIL}?dump={EVIL}&search={EVIL}"):
        html = page_of(viewer, path)
        assert ESCAPED in html
        assert "<script>alert" not in html
        assert '"onmouseover' not in html
    for path in (f"/{EVIL}", f"/policies/{EVIL}{EVIL}", f"/static/{EVIL}"):
        assert ESCAPED in page_of(viewer, path, 404)
    assert "&lt;script&gt;" in page_of(viewer, f"/?page={EVIL}", 400)


@pytest.mark.usefixtures("filled")
@pytest.mark.parametrize("path", ["/", "/policies/sales", "/policies/nowhere"])
def test_nothing_runs_inline_and_nothing_comes_from_elsewhere(path: str, viewer: TestClient) -> None:
    answer = viewer.get(f"{ROOT}{path}")
    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'self'" in policy
    assert "unsafe" not in policy
    assert not re.search(r"<[^>]+\s(on\w+|style)\s*=", answer.text)
    assert not re.search(r"<style|<script(?! src=\"/replication/static/)|(src|href)=\"(https?:)?//", answer.text)
    assert answer.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize(("name", "kind"), [("page.css", "text/css"), ("page.js", "text/javascript")])
def test_the_pages_own_files_are_served(name: str, kind: str, viewer: TestClient) -> None:
    answer = viewer.get(f"{ROOT}/static/{name}")
    assert (answer.status_code, answer.headers["content-type"].partition(";")[0]) == (200, kind)


@pytest.mark.parametrize("name", ["..%2Fapp.py", "nothing.css"])
def test_no_other_file_is(name: str, viewer: TestClient) -> None:
    assert viewer.get(f"{ROOT}/static/{name}").status_code == 404


def test_below_another_root_all_addresses_begin_there(viewer: TestClient, journal: Journal) -> None:
    journal.record_state(a_state("sales", at=time.time()))
    below = TestClient(api_server(), root_path="/airflow", headers=dict(viewer.headers))
    html = below.get(f"/airflow{ROOT}/").text
    assert 'href="/airflow/replication/policies/sales"' in html
    assert 'src="/airflow/replication/static/page.js"' in html


@pytest.mark.parametrize(
    ("phase", "direction", "primary", "note"),
    [
        ("following", "east/sales → west/sales", "<dd>east/sales</dd>", "twinhive check sales --failover"),
        (
            "promoted",
            "east/sales ⇥ west/sales, primary: west/sales",
            "<dd>west/sales</dd>",
            "taken over from east/sales",
        ),
        ("loading", "east/sales → west/sales", "<dd>east/sales</dd>", "nothing can take over yet"),
    ],
)
def test_the_direction_and_the_primary_of_a_policy_are_shown(
    phase: str, direction: str, primary: str, note: str, journal: Journal, viewer: TestClient
) -> None:
    state = a_state("sales", at=time.time(), phase=phase, source="east/sales", replica="west/sales")
    journal.record_states([state])
    assert direction in page_of(viewer)
    html = page_of(viewer, "/policies/sales")
    assert direction in html and f"<dt>Primary</dt>{primary}" in html and note in html


def test_a_first_copy_shows_how_far_it_is_and_when_it_will_be_done(journal: Journal, viewer: TestClient) -> None:
    now = time.time()
    progress = LoadProgress("bootstrap-1-1-a", now, now - 1_000, 4, 4, 1, 400, 100, 8_000_000_000, 2_000_000_000)
    loading = a_state("sales", at=now, phase="loading", lag_seconds=None, lag_events=None, replicated=None)
    journal.record_states([loading], {"sales": progress})
    assert "25 % copied" in page_of(viewer)
    html = page_of(viewer, "/policies/sales")
    for part in ("First copy", "25 %", "of 4</dd>", "of 400", "2.0 GB", "of 8.0 GB", "2.0 MB/s", "50 min"):
        assert part in html, part
    # While lists are still made, nobody can say how much there is.
    journal.record_states([loading], {"sales": replace(progress, listed=2)})
    html = page_of(viewer, "/policies/sales")
    assert "2 of 4 batches are listed" in html and "listed so far" in html
    journal.record_states([a_state("sales", at=now + 1)])
    assert "First copy" not in page_of(viewer, "/policies/sales")


def test_the_proof_of_equality_stands_on_the_page_of_a_policy(journal: Journal, viewer: TestClient) -> None:
    now = time.time()
    journal.record_state(a_state("sales", at=now))
    assert "not verified yet" in page_of(viewer, "/policies/sales")
    proof = RecordedProof("sales", now - 7_200, 48_211, "equal at event 48211", "100 % of 9 leaves")
    journal.replica_verified(proof)
    html = page_of(viewer, "/policies/sales")
    assert "equal at event 48211" in html and "2 h" in html and "100 % of 9 leaves" in html
    found = replace(proof, headline="NOT EQUAL at event 9: 1 finding", findings=1, details="differs: <orders>")
    journal.replica_verified(replace(found, commands="twinhive repair sales orders"))
    html = page_of(viewer, "/policies/sales")
    assert "NOT EQUAL at event 9" in html and "differs: &lt;orders&gt;" in html
    assert "twinhive repair sales orders" in html and "equal at event 48211" not in html


@pytest.fixture
def remotes_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file `remotes.yaml` of the configuration that the API server finds."""
    monkeypatch.setenv("TWINHIVE_CONFIG", str(tmp_path))
    return tmp_path / "remotes.yaml"


def test_sets_are_shown_and_those_that_are_held_with_why_and_what_to_do(viewer: TestClient, journal: Journal) -> None:
    now = time.time()
    journal.record_states([a_state("sales", at=now)])
    assert "<h2>Sets" not in page_of(viewer, "/policies/sales")
    held = [
        (f"orders day={EVIL}", "table orders is frozen: no room; next: twinhive resync sales orders", now - 7_200),
        ("orders day=3", "1 file differs; next: the DAG sales.scan brings over what no event tells of", now - 60),
    ]
    journal.record_states([a_state("sales", at=now, held_sets=HeldSets(22, held).as_json())])
    shown = [RecordedSet("sales", "orders", f"day={number}", now - 600, now - 540, 2, "ann") for number in range(60)]
    journal.sets_shown("sales", [*shown, RecordedSet("sales", EVIL, "*", now - 600, now - 500, 1)])
    html = page_of(viewer, "/policies/sales")
    for said in (
        "61 shown, 22 held",
        f"orders day={ESCAPED}",
        "table orders is frozen: no room",
        'data-copy="twinhive resync sales orders"',
        "the DAG sales.scan brings over what no event tells of",
        "2 h ago",
        "and 20 more:",
        "the newest 50 of 61",
        "1 min",
    ):
        assert said in html
    assert EVIL not in html


def test_announcements_are_shown_to_who_may_read_the_monitor(viewer: TestClient, journal: Journal) -> None:
    know_dags("sales.incremental", MONITOR)
    assert "<h2>Announcements" not in page_of(viewer)
    now = time.time()
    well = RecordedPublisher("east", now, "all is told", False, None, "one", 4_711, 4_712, 0, 0.0)
    bad = RecordedPublisher("west", now, EVIL, True, "broker bus does not answer: refused", None, 8, 20, 9, 600.0)
    gap = RecordedPublisher("north", now, "all is told", False, None, "two", 9, 9, 0, 0.0, "events 3 to 5", now - 60)
    journal.publishers_seen([well, bad, gap])
    html = page_of(viewer)
    assert html.index(">west</td>") < html.index(">east</td>")
    for said in (ESCAPED, "broker bus does not answer: refused", "none sends", "4711", "10 min", "events 3 to 5"):
        assert said in html
    assert EVIL not in html
    journal.publishers_seen([RecordedPublisher("south", now, "no publisher", False, "broker bus does not answer")])
    section = page_of(viewer).partition("<h2>Announcements")[2].partition("</section>")[0]
    assert '<tr class="quiet">' in section and "broker bus does not answer" in section
    # As the gateways, they are of no policy.
    know_dags("sales.incremental", stale=[MONITOR])
    assert signed_in(role=None).get(f"{ROOT}/").status_code == 403
    journal.publishers_seen([])
    assert "<h2>Announcements" not in page_of(viewer)


def some_copies(table: str, **more: Any) -> RecordedCopies:
    counts = {"fresh": 3, "stale": 0, "missing": 0, "bytes": 2_048, **more}
    return RecordedCopies("near", table, "east", "north", "hdfs://north/copies/near", at=time.time(), **counts)


def test_copies_are_shown_with_what_is_stale_first(viewer: TestClient, journal: Journal) -> None:
    know_dags("near.copies", "sales.incremental")
    assert "Copies on other clusters" not in page_of(viewer)
    journal.copies_seen(
        "near",
        [
            some_copies("sales.good"),
            some_copies("sales.old", fresh=1, stale=2, since="since event 17"),
            some_copies(EVIL, fresh=0, left_out=f"a view is not copied {EVIL}"),
        ],
    )
    html = page_of(viewer)
    assert "<script>alert" not in html and ESCAPED in html
    for said in ("stale: since event 17", "hdfs://north/copies/near", "2.0 kB", "left out: a view is not copied"):
        assert said in html
    assert html.index("sales.old") < html.index("sales.good")
    journal.copies_seen("near", [some_copies("sales.good")])
    assert "sales.old" not in page_of(viewer)


def test_copies_are_for_those_who_may_read_the_dag_of_their_placement(
    viewer: TestClient, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    from airflow.api_fastapi.app import get_auth_manager

    journal.copies_seen("near", [some_copies("sales.good")])
    know_dags("sales.incremental", stale=["near.copies"])
    assert "sales.good" not in page_of(viewer), "its file is gone"
    know_dags("near.copies", "sales.incremental")
    assert "sales.good" in page_of(viewer)
    monkeypatch.setattr(get_auth_manager(), "get_authorized_dag_ids", lambda **asked: {"sales.incremental"})
    assert "sales.good" not in page_of(viewer)


def test_without_a_gateway_there_is_no_section_of_remotes(viewer: TestClient, remotes_file: Path) -> None:
    assert "Remotes</h2>" not in page_of(viewer)
    remotes_file.write_text("clusters: false")
    assert "Remotes</h2>" not in page_of(viewer)


def test_remotes_are_shown_as_the_gateways_know_them_and_a_gateway_that_is_down_is_named(
    viewer: TestClient, remotes_file: Path
) -> None:
    counts, gone = a_count(), nowhere()
    counts.names = {**counts.names, EVIL: (EVIL, WELL, "")}
    with status_port(counts) as well:
        remotes_file.write_text(f"gateways: ['{well}', '{gone}']")
        html = page_of(viewer)
    assert "<h2>Remotes</h2>" in html and "<script>alert" not in html and ESCAPED in html
    assert f"The gateway whose status port is {gone} does not answer" in html
    for said in ("shop.orders", "sales.orders", WELL, DOWN, "calls are refused at once: refused the call", "2.0 ms"):
        assert said in html
    assert "shop.secret may not be reached" in html
    assert html.index(DOWN) < html.index(WELL)


def test_remotes_are_found_in_the_dags_folder(
    viewer: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As DAGs, operators and the monitor find them, wherever the API server was started."""
    monkeypatch.delenv("TWINHIVE_CONFIG", raising=False)
    monkeypatch.setenv("AIRFLOW__CORE__DAGS_FOLDER", str(tmp_path))
    (tmp_path / "remotes.yaml").write_text("gateways: [nowhere]")
    assert "What gateways there are is not known" in page_of(viewer)


def test_a_file_of_remotes_that_cannot_be_used_is_said_and_the_rest_is_shown(
    viewer: TestClient, remotes_file: Path
) -> None:
    remotes_file.write_text("gateways: [nowhere]")
    assert "What gateways there are is not known" in page_of(viewer)


def test_remotes_are_for_those_who_may_read_the_monitor(
    viewer: TestClient, remotes_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from airflow.api_fastapi.app import get_auth_manager

    monkeypatch.setattr(get_auth_manager(), "is_authorized_dag", lambda **asked: asked["details"].id != MONITOR)
    with status_port(a_count()) as well:
        remotes_file.write_text(f"gateways: ['{well}']")
        html = page_of(viewer)
    assert "Remotes</h2>" not in html and "shop.orders" not in html
