"""Our publisher: how soon, how many, how much memory, and what others notice of a broker that is dead or frozen."""

import subprocess
import time
from collections.abc import Callable

from benchmarks.measuring import load_average
from benchmarks.sets.scene import Scene, peak_mb, said, show
from twinhive.hive.adapters.brokers.stomp_broker import StompSubscription

_MARK_TO_MESSAGE = 1.5
_MEGABYTES = 60
_A_CALL = 500


def measure_told(scene: Scene, marks: int, partitions: int) -> None:
    """Print the figures of our publisher."""
    alone = scene.adding("alone", marks)
    publisher = scene.start_publisher()
    try:
        heard = scene.listen()
        print(f"load {load_average():.1f}, {marks} marks, {partitions} partitions, one look a second")
        show("mark to message", _delays(heard, "s", marks, scene.mark), _MARK_TO_MESSAGE)
        show("partition to message", _delays(heard, "p", marks, lambda name: scene.add([name])))
        _rates(scene, heard, publisher, partitions)
        heard.close()
        watched = scene.adding("watched", marks)
        scene.broker.kill()
        dead = scene.adding("dead", marks)
        scene.broker.start()
        _told_again(scene, f"dead{marks - 1}", "dead")
        scene.broker.freeze()
        frozen = scene.adding("frozen", marks)
        scene.broker.thaw()
        for what, found in (("no publisher", alone), ("ours", watched), ("ours, broker dead", dead)):
            show(f"add_partitions with {what}", found)
        show("add_partitions with ours, broker frozen", frozen)
        taken = peak_mb(publisher)
        kept = "kept" if taken < _MEGABYTES else "NOT KEPT"
        print(f"the publisher took {taken:.1f} MB at most (below {_MEGABYTES}: {kept})", flush=True)
    finally:
        publisher.terminate()
        publisher.wait(60)


def _rates(scene: Scene, heard: StompSubscription, publisher: "subprocess.Popen[bytes]", partitions: int) -> None:
    """Tell how many a second: while they are added in large calls, and what waits when a publisher comes back."""
    began = time.monotonic()
    for at in range(0, partitions, _A_CALL):
        scene.add([f"many{number}" for number in range(at, min(at + _A_CALL, partitions))])
    for _ in range(partitions):
        said(heard)
    seconds = time.monotonic() - began
    print(f"ours, {_A_CALL} partitions a call, adding included: {partitions / seconds:,.0f} messages a second")
    publisher.send_signal(19)  # SIGSTOP: what is added now waits in the log
    for at in range(0, partitions, _A_CALL):
        scene.add([f"waits{number}" for number in range(at, min(at + _A_CALL, partitions))])
    publisher.send_signal(18)  # SIGCONT
    said(heard)
    began = time.monotonic()
    for _ in range(partitions - 1):
        said(heard)
    seconds = time.monotonic() - began
    print(f"ours, what waits in the log: {(partitions - 1) / seconds:,.0f} messages a second", flush=True)


def _told_again(scene: Scene, last: str, what: str) -> None:
    began = time.monotonic()
    again = scene.listen()
    while not said(again).endswith(last):
        pass
    again.close()
    print(f"all told {time.monotonic() - began:.1f} s after the broker was back ({what})")


def _delays(heard: StompSubscription, prefix: str, count: int, happen: Callable[[str], None]) -> list[float]:
    delays = []
    for number in range(count):
        name = f"{prefix}{number}"
        began = time.monotonic()
        happen(name)
        while said(heard) != f"day={name}":
            pass
        delays.append(time.monotonic() - began)
        # Looks are made once a second: not always at the same moment after one.
        time.sleep(0.137 * (number % 7))
    return delays
