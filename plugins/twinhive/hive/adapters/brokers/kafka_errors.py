"""Say what an error of librdkafka means: that we may not, or that it may pass."""

from confluent_kafka import KafkaError, KafkaException

from twinhive.core.model.errors import InvalidSettings, Refused, TwinhiveError, Unreachable, Unwell

_REFUSALS = frozenset(
    {
        KafkaError._AUTHENTICATION,
        KafkaError.SASL_AUTHENTICATION_FAILED,
        KafkaError.UNSUPPORTED_SASL_MECHANISM,
        KafkaError.ILLEGAL_SASL_STATE,
        KafkaError.TOPIC_AUTHORIZATION_FAILED,
        KafkaError.CLUSTER_AUTHORIZATION_FAILED,
        KafkaError.SECURITY_DISABLED,
    }
)
_LOST = frozenset(
    {
        KafkaError._ALL_BROKERS_DOWN,
        KafkaError._TRANSPORT,
        KafkaError._TIMED_OUT,
        KafkaError._TIMED_OUT_QUEUE,
        KafkaError._MSG_TIMED_OUT,
        KafkaError._RESOLVE,
        KafkaError._PURGE_QUEUE,
        KafkaError._PURGE_INFLIGHT,
        KafkaError._DESTROY,
    }
)
OF_GROUPS = frozenset(
    {
        KafkaError.GROUP_AUTHORIZATION_FAILED,
        KafkaError.COORDINATOR_NOT_AVAILABLE,
        KafkaError.NOT_COORDINATOR,
        KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
    }
)
"""What is said of a group that the library looks for by itself: nobody here joins one."""
WITHOUT_LEADER = frozenset({KafkaError.NOT_LEADER_FOR_PARTITION, KafkaError.LEADER_NOT_AVAILABLE})
"""What is said of a partition until its leader is known: a broker that was restarted answers before it leads."""


def is_refusal(error: KafkaError) -> bool:
    """True for an error that is about what we may do."""
    return error.code() in _REFUSALS


def trouble_of(broker: str, error: KafkaError) -> TwinhiveError:
    """Return the error for what librdkafka says."""
    if is_refusal(error):
        return refused(broker, error.str())
    if error.code() == KafkaError.TOPIC_EXCEPTION:
        return Refused(
            f"broker {broker} takes no topic of that name",
            found=error.str(),
            expected="topics that differ in more than '.' and '_', which are one for Kafka",
            next_step="correct messages.topic of the cluster in clusters.yaml so that they differ"
            " (twinhive.{cluster}.{database} is one for each database), then start the publisher",
        )
    if error.code() in _LOST:
        return Unreachable(
            f"broker {broker} was lost, or does not answer",
            found=error.str(),
            expected="a broker that speaks Kafka",
            next_step="start the broker, or correct the connection; what was not sent is sent again",
        )
    return Unwell(
        f"broker {broker} could not do it",
        found=f"{error.name()}: {error.str()}",
        expected="that it has the messages",
        next_step="nothing: it is tried again; if it goes on, look at the broker's log",
    )


def unusable(connection: str, error: KafkaException) -> InvalidSettings:
    """Return the error for properties that the library makes no client of."""
    return InvalidSettings(
        f"connection {connection} cannot be used for Kafka",
        found=error.args[0].str(),
        expected="properties of librdkafka, by its names, and files that are there",
        next_step="correct the connection's extra",
    )


def refused(broker: str, said: str) -> Refused:
    """Return the error for a broker that does not let us."""
    return Refused(
        f"broker {broker} refuses us",
        found=said,
        expected="a user that may do this: a publisher writes, and makes topics; readers read",
        next_step="correct login and password of the connection, or the broker's rights (ACLs)",
    )
