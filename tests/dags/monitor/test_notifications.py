"""People are told through the channels that a policy names: over real servers for Slack, webhooks and mail."""

import json
import time
from pathlib import Path
from typing import Any, ClassVar

import pytest

from tests.dags.airflow_home import use_own_airflow
from tests.support.messages.notification_inbox import Hook, MailServer
from twinhive.core.model.errors import ActNow
from twinhive.core.model.watching.alerts import AlertKind
from twinhive.operations.alerting.alert_message import Message
from twinhive.operations.journal.open_records import what_is_open
from twinhive.operations.journal.writing import Journal
from twinhive.runtime.settings.watch_settings import NotificationSettings

use_own_airflow()

from airflow.sdk import DAG, BaseNotifier  # noqa: E402

from twinhive.surfaces.airflow.monitor.alert_delivery import Teller  # noqa: E402

SINCE = 1_900_000_000.0
ERROR = ActNow("the file x of table a|<b> is lost", found="nothing", expected="a file", next_step="bring it back")
TEMPLATE = "{{ twinhive.subject }}: {{ twinhive.messages[0].next_step }}"


class Kept(BaseNotifier):
    """A notifier as Airflow's providers write them."""

    template_fields = ("text",)
    texts: ClassVar[list[str]] = []

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text

    def notify(self, context: Any) -> None:
        Kept.texts.append(f"{self.text} of {context['dag'].dag_id}")


@pytest.fixture(autouse=True)
def connections(hook: Hook, mail: MailServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give Airflow the connections as an installation has them."""
    given = {
        "oncall_slack": {"conn_type": "slackwebhook", "host": f"{hook.url}/services", "password": "/T0/B0/secret"},
        "pager": {
            "conn_type": "http",
            "host": f"{hook.url}/events",
            "password": "token",
            "extra": {"headers": {"X-Team": "data"}},
        },
        "basic": {"conn_type": "http", "host": "127.0.0.1", "port": hook.server_port, "login": "a", "password": "b"},
        "smtp_default": {
            "conn_type": "smtp",
            "host": "127.0.0.1",
            "port": mail.port,
            "extra": {"from_email": "twinhive@example.com", "disable_ssl": True, "disable_tls": True},
        },
    }
    given["basic"]["schema"] = "http"
    for name, connection in given.items():
        monkeypatch.setenv(f"AIRFLOW_CONN_{name.upper()}", json.dumps(connection))


@pytest.fixture
def journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Journal:
    url = f"sqlite:///{tmp_path / 'journal.db'}"
    monkeypatch.setenv("TWINHIVE_JOURNAL", url)
    return Journal(url)


def a_message(policy: str = "sales", kind: AlertKind = AlertKind.STOPPED, *, is_over: bool = False) -> Message:
    made = Message.of(policy, kind, "bootstrap", SINCE, "data-platform", ERROR)
    return Message(policy, kind, "bootstrap", SINCE, "data-platform", "now: fine", is_over=True) if is_over else made


def settings(*send: dict[str, Any], **more: Any) -> NotificationSettings:
    return NotificationSettings.model_validate({"owner": "data-platform", "send": list(send), **more})


class Told:
    """Tell things one after the other, each time with what the journal knows by then."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self.warned: list[str] = []

    def tell(self, to: NotificationSettings, *messages: Message, knows: bool = True, is_news: bool = True) -> list[str]:
        known = what_is_open().messages if knows else None
        teller = Teller(self.journal, known, {"dag": DAG("sales.bootstrap")}, self.warned.append)
        for message in messages:
            teller.tell_end(message, to) if message.is_over else teller.tell(message, to, is_news=is_news)
        return teller.send()


@pytest.fixture
def told(journal: Journal) -> Told:
    return Told(journal)


def test_slack_gets_the_text_and_nobody_is_called_by_a_name_of_the_source(told: Told, hook: Hook) -> None:
    assert told.tell(settings({"slack": "oncall_slack"}), a_message()) == []
    [(path, _, body)] = hook.posted
    assert path == "/services/T0/B0/secret"
    assert body["text"].startswith("twinhive: sales: stopped bootstrap (since 2030-03-17 17:46 UTC, data-platform)")
    assert "table a|&lt;b&gt; is lost" in body["text"] and "bring it back" in body["text"]


def test_a_webhook_gets_fields_and_the_headers_of_its_connection(told: Told, hook: Hook) -> None:
    assert told.tell(settings({"webhook": "pager"}, {"webhook": "basic"}), a_message()) == []
    (path, headers, body), (_, basic, _) = hook.posted
    assert (path, headers["Authorization"], headers["X-Team"]) == ("/events", "Bearer token", "data")
    assert basic["Authorization"] == "Basic YTpi"
    [alert] = body["alerts"]
    assert (alert["policy"], alert["kind"], alert["severity"], alert["state"]) == (
        "sales",
        "stopped",
        "act_now",
        "stands",
    )
    assert alert["next"] == "bring it back" and alert["owner"] == "data-platform"


def test_mail_goes_to_all_addresses(told: Told, mail: MailServer) -> None:
    assert told.tell(settings({"email": ["ann@example.com", "bob@example.com"]}), a_message()) == []
    [(to, letter)] = mail.letters
    assert to == ["ann@example.com", "bob@example.com"]
    assert letter["Subject"] == "twinhive: sales: stopped bootstrap" and letter["From"] == "twinhive@example.com"
    assert "bring it back" in letter.get_content()


def test_airflows_own_notifiers_are_made_and_called_with_the_message_in_their_context(
    told: Told, mail: MailServer
) -> None:
    Kept.texts.clear()
    own = {"notifier": f"{__name__}.Kept", "arguments": {"text": TEMPLATE}}
    smtp = {
        "notifier": "airflow.providers.smtp.notifications.smtp.SmtpNotifier",
        "arguments": {
            "to": "ann@example.com",
            "subject": "{{ twinhive.subject }}",
            "html_content": "<pre>{{ twinhive.text }}</pre>",
        },
    }
    assert told.tell(settings(own, smtp), a_message()) == []
    assert Kept.texts == ["twinhive: sales: stopped bootstrap: bring it back of sales.bootstrap"]
    [(_, letter)] = mail.letters
    assert letter["Subject"] == "twinhive: sales: stopped bootstrap"


def test_what_was_told_is_told_again_only_as_a_reminder(told: Told, hook: Hook, journal: Journal) -> None:
    to = settings({"webhook": "pager"}, remind_after=3600)
    for _ in range(3):
        told.tell(to, a_message())
    assert len(hook.posted) == 1
    [known] = what_is_open().messages
    journal.record_message(known.__class__(known.policy, known.topic, known.channel, known.tried, time.time() - 3601))
    told.tell(to, a_message())
    assert len(hook.posted) == 2


def test_without_a_memory_what_is_news_is_told(told: Told, hook: Hook) -> None:
    to = settings({"webhook": "pager"})
    told.tell(to, a_message(), knows=False, is_news=True)
    told.tell(to, a_message(), knows=False, is_news=False)
    assert len(hook.posted) == 1


def test_the_end_is_told_to_those_who_were_told_of_the_beginning(told: Told, hook: Hook, mail: MailServer) -> None:
    first, both = settings({"webhook": "pager"}), settings({"webhook": "pager"}, {"email": ["ann@example.com"]})
    told.tell(first, a_message())
    told.tell(both, a_message(is_over=True))
    assert [body["alerts"][0]["state"] for body in hook.bodies] == ["stands", "over"]
    assert mail.letters == [] and what_is_open().messages == []
    # What comes back is news.
    told.tell(first, a_message())
    assert len(hook.posted) == 3


def test_an_end_is_forgotten_by_those_who_were_told_and_kept_for_those_who_could_not_be(
    told: Told, hook: Hook, mail: MailServer
) -> None:
    both = settings({"webhook": "pager"}, {"email": ["ann@example.com"]})
    told.tell(both, a_message())
    hook.status = 500
    told.tell(both, a_message(is_over=True))
    told.tell(both, a_message(is_over=True))
    assert [one.channel for one in what_is_open().messages] == ["webhook pager"]
    assert len(mail.letters) == 2
    # What comes back meanwhile is told, as the channel may have got no word of either.
    hook.status = 200
    told.tell(both, a_message())
    assert [body["alerts"][0]["state"] for body in hook.bodies[-1:]] == ["stands"]
    assert [one.trouble for one in what_is_open().messages] == [None, None]
    # Who is not to be told any more is forgotten.
    told.tell(settings(), a_message(is_over=True))
    assert what_is_open().messages == []


@pytest.mark.parametrize(
    ("limits", "taken"),
    [
        ({"kinds": ["late"]}, ["late"]),
        ({"severities": ["act_now"]}, ["stopped", "late"]),
        ({"severities": ["look"]}, ["failed"]),
        ({}, ["stopped", "failed", "late"]),
    ],
)
def test_a_channel_takes_what_it_is_for(told: Told, hook: Hook, limits: dict[str, Any], taken: list[str]) -> None:
    kinds = (AlertKind.STOPPED, AlertKind.FAILED, AlertKind.LATE)
    told.tell(settings({"webhook": "pager", **limits}), *(a_message(kind=kind) for kind in kinds))
    assert [body["alerts"][0]["kind"] for body in hook.bodies] == taken


def test_many_messages_at_once_are_one_letter(told: Told, hook: Hook) -> None:
    told.tell(settings({"webhook": "pager"}), *(a_message(f"p{number}") for number in range(200)))
    [body] = hook.bodies
    assert body["subject"] == "twinhive: 200 messages about 200 policies"
    assert len(body["alerts"]) == 200 and body["text"].count("bring it back") == 20 and "p199" in body["text"]
    told.tell(settings({"webhook": "pager"}), *(a_message(f"p{number}") for number in range(200)))
    assert len(hook.posted) == 1


def test_a_channel_that_does_not_work_is_said_and_tried_again_and_hinders_no_other(
    told: Told, hook: Hook, mail: MailServer
) -> None:
    to = settings({"slack": "oncall_slack"}, {"email": ["ann@example.com"]})
    hook.status = 403
    [said] = told.tell(to, a_message())
    assert "slack oncall_slack" in said and "403" in said and "secret" not in said
    assert told.warned == [said] and len(mail.letters) == 1
    found = {one.channel: (one.told is not None, one.trouble) for one in what_is_open().messages}
    assert found["email to ann@example.com"] == (True, None)
    assert found["slack oncall_slack"][0] is False and "403" in str(found["slack oncall_slack"][1])
    hook.status = 200
    assert told.tell(to, a_message(), is_news=False) == []
    assert len(hook.posted) == 1 and len(mail.letters) == 1


@pytest.mark.parametrize(
    ("channel", "said"),
    [
        ({"slack": "nobody_knows"}, "Airflow knows no connection nobody_knows"),
        ({"email": ["a@b.c"], "smtp": "pager"}, "says no sender"),
        ({"notifier": "no.such.Notifier"}, "cannot be imported"),
        ({"notifier": "builtins.print"}, "nobody was told"),
        ({"notifier": "json.JSONDecoder", "arguments": {"x": 1}}, "TypeError"),
    ],
)
def test_what_cannot_be_a_channel_is_said_and_raises_nothing(told: Told, channel: dict[str, Any], said: str) -> None:
    [line] = told.tell(settings(channel), a_message())
    assert said in line


def test_a_mail_server_that_refuses_or_is_away_is_said(told: Told, mail: MailServer) -> None:
    to = settings({"email": ["ann@example.com"]})
    mail.refuses = True
    [refused] = told.tell(to, a_message())
    assert "127.0.0.1" in refused and "not from you" in refused
    mail.shutdown()
    mail.server_close()
    [away] = told.tell(to, a_message())
    assert "127.0.0.1" in away
