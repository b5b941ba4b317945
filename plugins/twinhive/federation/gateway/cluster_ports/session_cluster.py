"""What a client may say about the cluster that it means: `SET metaconf:twinhive.cluster=north`, as Hive says settings.

A port is its cluster, from the first call to the last. A metastore forgets such a setting when its client connects
anew, without a word to anybody. So it changes nothing here: it is agreed to at the port of that cluster, and refused at
every other one, with the address of the right one. A script that begins with it runs nowhere but where it was meant to.
"""

from typing import Final

from twinhive.core.model.placement.copy_marks import CLUSTER
from twinhive.federation.cluster_view.cluster_port import DefaultPort, Port
from twinhive.federation.gateway.call_outcomes import CallOutcome, refusal
from twinhive.federation.gateway.struct_edits import text_at
from twinhive.hive.wire.thrift_message import STOP, WireMessage, reply, text_field

_SET: Final = "setMetaConf"
GET: Final = "getMetaConf"
"""Is answered here for one of its keys."""
_KEY, _VALUE = (1,), (2,)
_SUCCESS: Final = 0


def said_of_cluster(port: Port, request: WireMessage) -> CallOutcome | None:
    """Answer a call that says, or asks, which cluster is meant; None for any other. Raises WireError."""
    method, sequence = request.head.method, request.head.sequence
    if method not in (_SET, GET) or text_at(request, _KEY) != CLUSTER:
        return None
    cluster = port.sight.cluster
    if method == GET:
        return CallOutcome(reply(method, sequence, text_field(_SUCCESS, cluster) + STOP))
    said = (text_at(request, _VALUE) or "").strip()
    if said == cluster or (not said and isinstance(port, DefaultPort)):
        return CallOutcome(reply(method, sequence))
    return refusal(request, _elsewhere(port, said))


def _elsewhere(port: Port, said: str) -> str:
    sight = port.sight
    here = f"this is the port of cluster {sight.cluster}, for as long as you are connected"
    if said and said not in sight.roots:
        return f"there is no cluster {said}: {here}; expected one of {', '.join(sorted(sight.roots))}"
    if said and said not in sight.ports:
        return f"USE CLUSTER {said}: {here}, and {said} has none: name one in clusters.yaml, clusters.{said}.gateway"
    at = sight.ports.get(said or sight.default, "the gateway's own port")
    return f"USE CLUSTER{said and ' ' + said}: {here}; connect to {at}"
