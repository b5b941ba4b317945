"""A client of any kind may do at the broker what its user may, and nothing else: no queue, no topic of others."""

import socket
import uuid

import pytest

from sandbox.brokers.broker_users import PUBLISHER, READER
from tests.support.messages.running_broker import RunningBroker

pytestmark = pytest.mark.sandbox
FOREIGN = ["/queue/twinhive.{}", "/queue/orders", "/topic/orders", "/topic/twin.{}", "/queue/>", "/topic/other.>"]


class RawClient:
    """A STOMP client that sends what it likes, and tells the command of the frame that comes back."""

    def __init__(self, running: RunningBroker, user: str) -> None:
        self.connection = socket.create_connection(("127.0.0.1", running.port), timeout=30)
        self._read = b""
        endpoint = running.endpoint(user)
        said = {"login": str(endpoint.user), "passcode": str(endpoint.password)}
        assert self.say("CONNECT", {"accept-version": "1.2", "host": "twinhive", **said})[0] == "CONNECTED"

    def say(self, command: str, headers: dict[str, str], body: str = "") -> tuple[str, str]:
        """Send a frame; return the command of the answer, and all of it."""
        lines = [command, *(f"{key}:{value}" for key, value in headers.items()), "", body]
        self.connection.sendall("\n".join(lines).encode() + b"\0")
        return self.heard()

    def heard(self) -> tuple[str, str]:
        while b"\0" not in self._read:
            more = self.connection.recv(65_536)
            assert more, "the broker hung up without a word"
            self._read += more
        frame, _, self._read = self._read.partition(b"\0")
        text = frame.decode().lstrip("\n")
        return text.partition("\n")[0], text

    def close(self) -> None:
        self.connection.close()


def assert_refused(answer: tuple[str, str], user: str) -> None:
    command, said = answer
    assert command == "ERROR"
    assert f"User {user} is not authorized" in said


@pytest.mark.parametrize("user", [PUBLISHER, READER])
@pytest.mark.parametrize("place", FOREIGN)
def test_queues_and_topics_of_others_are_closed_to_both_users(running: RunningBroker, place: str, user: str) -> None:
    destination = place.format(uuid.uuid4().hex)
    subscribing, sending = RawClient(running, user), RawClient(running, user)
    headers = {"destination": destination, "receipt": "1"}
    assert_refused(subscribing.say("SUBSCRIBE", {"id": "1", **headers}), user)
    assert_refused(sending.say("SEND", headers, "forged"), user)
    subscribing.close()
    sending.close()


def test_a_reader_may_not_make_a_topic_and_hears_the_first_message_of_one_that_is_made_later(
    running: RunningBroker,
) -> None:
    topic = f"/topic/twinhive.t{uuid.uuid4().hex}"
    writing, listening, publishing = (
        RawClient(running, READER),
        RawClient(running, READER),
        RawClient(running, PUBLISHER),
    )
    assert_refused(writing.say("SEND", {"destination": topic, "receipt": "1"}, "forged"), READER)
    assert listening.say("SUBSCRIBE", {"id": "1", "destination": f"{topic}.>", "receipt": "1"})[0] == "RECEIPT"
    assert publishing.say("SEND", {"destination": topic, "receipt": "1"}, "real")[0] == "RECEIPT"
    command, said = listening.heard()
    assert (command, said.rpartition("\n")[2]) == ("MESSAGE", "real")
    for one in (writing, listening, publishing):
        one.close()
