"""The connection to a broker: one thread, bounded queues, and nothing that waits for it.

The only module that imports paho-mqtt. The thread connects again and again, with a growing pause.
Messages are kept until the broker has acknowledged them (`companion.mqtt.outbox`). A broker that
refuses, hangs or floods costs the caller nothing: `publish` only takes a lock that is never held
during input or output, the thread reads a bounded number of packets a second and none above
`LARGEST_PACKET_BYTES`.
"""

from __future__ import annotations

import logging
import random
import select
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress

import paho.mqtt.client as paho
from paho.mqtt.enums import CallbackAPIVersion, MQTTProtocolVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode

from companion.mqtt.broker import Broker, Message, Received
from companion.mqtt.outbox import Outbox
from companion.mqtt.tls import context_of, reason_of

LOGGER = logging.getLogger(__name__)

KEEPALIVE_S = 30
"""Seconds after which a silent broker counts as lost; after half as many again it does for it."""

CONNECT_S = 5.0
"""Seconds for the connection, for TLS, and again for the broker's first answer."""

PAUSES_S = (1.0, 15.0)
"""First and longest pause between two attempts; each doubles the last. A table should be seen soon
after the network is back, as a round has groups for the tables that are there."""

STABLE_S = 10.0
"""Seconds after which the pauses begin anew: tables of one id end each other's connection."""

PACKETS_PER_S = 100
"""Packets that are read in a second; the others wait in the broker."""

LARGEST_PACKET_BYTES = 1024 * 1024

CLOSE_S = 1.0
"""Seconds for the last messages when the table ends."""


class _BoundedClient(paho.Client):
    """Paho's client, which ends a connection that announces a huge packet."""

    def _sock_recv(self, bufsize: int) -> bytes:
        if bufsize > LARGEST_PACKET_BYTES:
            raise ConnectionError(f"a packet of {bufsize} bytes")
        return super()._sock_recv(bufsize)


class Link:
    """A connection that is kept up until it is closed. All methods return at once."""

    def __init__(
        self,
        broker: Broker,
        *,
        client_id: str,
        will: Message | None = None,
        subscriptions: Sequence[str] = (),
        on_message: Callable[[Received], None] | None = None,
        on_connected: Callable[[], None] | None = None,
        packets_per_s: int = PACKETS_PER_S,
        name: str = "mqtt",
    ) -> None:
        """Set up; `start` connects.

        Args:
            client_id: The broker ends an older connection of the same id.
            will: Published by the broker when this connection breaks.
            subscriptions: Topic filters, subscribed to at each connection.
            on_message, on_connected: Called on the connection's thread; short. An error is logged.
                Who gives `on_connected` publishes all retained topics then: older messages of them
                that still wait are dropped.
            packets_per_s: How many packets are read in a second.
            name: Of the thread.
        """
        self._broker, self._client_id, self._will = broker, client_id, will
        self._subscriptions = tuple(subscriptions)
        self._on_message, self._on_connected = on_message, on_connected
        self._packets_per_s = packets_per_s
        self._outbox = Outbox()
        self._packets = 0  # read in this second
        self._most_bytes = float("inf")  # that the broker takes at a time
        self._is_connected = self._has_answered = False
        self._trouble: str | None = "not connected yet"
        self._complained = ""
        self._closing = threading.Event()
        self._woken, self._waker = socket.socketpair()
        for each in (self._woken, self._waker):
            each.setblocking(False)
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    @property
    def is_connected(self) -> bool:
        """Whether the broker has accepted this connection."""
        return self._is_connected

    @property
    def trouble(self) -> str | None:
        """Why there is no connection, in words without secrets; None while there is one."""
        return None if self._is_connected else self._trouble

    @property
    def waiting(self) -> int:
        """Number of messages that the broker has not acknowledged."""
        return len(self._outbox)

    def start(self) -> None:
        """Connect, and again whenever the connection is lost."""
        self._thread.start()

    def publish(self, message: Message) -> None:
        """Send a message as soon as possible, at least once (QoS 1).

        A retained one replaces an older one of its topic that was not sent yet.
        """
        self._outbox.put(message)
        self._wake()

    def close(self, last: Iterable[Message] = ()) -> None:
        """Send the last messages if that is quick, and disconnect; may be called twice."""
        for message in last:
            self.publish(message)
        self._closing.set()
        self._wake()
        if self._thread.is_alive():
            self._thread.join(CLOSE_S + 0.5)

    # -- messages ----------------------------------------------------------------------------

    def _hand_over(self, client: paho.Client) -> None:
        """Give paho what waits."""
        for queued in self._outbox.take():
            if fault := self._outbox.fault_of(queued, self._most_bytes):
                self._complain(fault)
                continue
            message, properties = queued.message, None
            if message.keep_s is not None:
                properties = Properties(PacketTypes.PUBLISH)  # type: ignore[no-untyped-call]
                properties.MessageExpiryInterval = message.keep_s
            info = client.publish(message.topic, message.payload, 1, message.retain, properties)
            self._outbox.sent(info.mid, queued)

    def _published(
        self, _client: paho.Client, _data: object, mid: int, code: ReasonCode, _more: Properties
    ) -> None:
        self._packets += 1
        message = self._outbox.acknowledged(mid)
        if message is None:
            return
        if code.is_failure:
            self._complain(f"it does not accept {message.topic}: {code}")
        elif message.on_acknowledged is not None:
            _guarded(message.on_acknowledged)

    def _wake(self) -> None:
        with suppress(OSError):  # full: the thread is about to wake up; or closed
            self._waker.send(b".")

    # -- the connection ----------------------------------------------------------------------

    def _run(self) -> None:
        first_s, longest_s = PAUSES_S
        pause_s = first_s
        while not self._closing.is_set():
            was_stable = False
            try:
                was_stable = self._connect_and_stay()
            except Exception as error:  # paho raises many kinds on packets that make no sense
                self._trouble_is(f"it sends what is not MQTT: {type(error).__name__}")
            self._is_connected = False
            self._outbox.take_back(was_stable=was_stable)
            pause_s = first_s if was_stable else pause_s
            if self._closing.wait(pause_s * random.uniform(0.5, 1.0)):
                break
            pause_s = min(2 * pause_s, longest_s)
        self._woken.close()
        self._waker.close()

    def _connect_and_stay(self) -> bool:
        """Stay connected as long as that lasts; return whether it was a stable connection."""
        try:
            client = self._made()
            client.connect(self._broker.host, self._broker.port, KEEPALIVE_S, clean_start=True)
        except (OSError, ValueError) as error:
            self._trouble_is(reason_of(error))
            return False
        began_s = window_s = time.monotonic()
        self._has_answered = False
        end_s = float("inf")
        self._packets = 0
        while (sock := client.socket()) is not None:
            now_s = time.monotonic()
            if now_s - window_s >= 1.0:
                window_s, self._packets = now_s, 0
            if self._is_connected:
                self._hand_over(client)
                if client.socket() is not sock:  # the line broke meanwhile
                    break
            elif now_s > began_s + CONNECT_S:
                self._trouble_is("it does not answer")
                break
            if self._closing.is_set():
                end_s = min(end_s, now_s + CLOSE_S)
                if not (self._is_connected and self.waiting) or now_s >= end_s:
                    break
            may_read = self._packets < self._packets_per_s
            events = (select.POLLIN if may_read else 0) | (
                select.POLLOUT if client.want_write() else 0
            )
            has_pending = isinstance(sock, ssl.SSLSocket) and sock.pending() > 0 and may_read
            limit_s = 1.0 if may_read else max(0.0, window_s + 1.0 - now_s)
            limit_s = min(limit_s, CLOSE_S / 10) if self._closing.is_set() else limit_s
            found = self._poll(sock.fileno(), events, 0.0 if has_pending else limit_s)
            if (found & ~select.POLLOUT and may_read) or has_pending:
                self._packets += 1
                client.loop_read()  # several packets, as many as are in flight
            if found & select.POLLOUT and client.socket() is not None:
                client.loop_write()
            if client.socket() is not None:
                client.loop_misc()
        if client.socket() is not None:
            client.disconnect()
            client.loop_write()
        elif not self._has_answered:
            self._trouble_is("it closed the connection")
        return time.monotonic() - began_s > STABLE_S + CONNECT_S

    def _poll(self, fileno: int, events: int, limit_s: float) -> int:
        """Wait for the socket or for `_wake`; return what is possible with the socket."""
        poll = select.poll()
        if events:
            poll.register(fileno, events)
        poll.register(self._woken, select.POLLIN)
        ready = dict(poll.poll(limit_s * 1000))
        if self._woken.fileno() in ready:
            with suppress(OSError):
                self._woken.recv(4096)
        return ready.get(fileno, 0)

    def _made(self) -> paho.Client:
        client = _BoundedClient(
            CallbackAPIVersion.VERSION2, self._client_id, protocol=MQTTProtocolVersion.MQTTv5
        )
        broker = self._broker
        if broker.username or broker.password:
            client.username_pw_set(broker.username, broker.password or None)
        if broker.tls or broker.ca_file or broker.cert_file:
            client.tls_set_context(context_of(broker))
        if self._will is not None:
            client.will_set(self._will.topic, self._will.payload, 1, self._will.retain)
        client.connect_timeout = CONNECT_S
        client.on_connect = self._accepted
        client.on_disconnect = self._lost
        client.on_publish = self._published
        client.on_subscribe = self._subscribed
        client.on_message = self._received
        return client

    def _accepted(
        self,
        client: paho.Client,
        _data: object,
        _flags: paho.ConnectFlags,
        code: ReasonCode,
        more: Properties | None,
    ) -> None:
        self._has_answered = True
        if code.is_failure:
            self._trouble_is(f"it refused: {code}")
            return
        follow = None if self._closing.is_set() else self._on_connected
        if follow is not None:
            self._outbox.forget_retained()
        self._is_connected = True
        self._complained = ""
        self._most_bytes = getattr(more, "MaximumPacketSize", float("inf"))
        LOGGER.info("mqtt: connected to %s", self._broker)
        if self._subscriptions:
            client.subscribe([(each, 1) for each in self._subscriptions])
        if follow is not None:
            _guarded(follow)

    def _lost(
        self,
        _client: paho.Client,
        _data: object,
        _flags: paho.DisconnectFlags,
        code: ReasonCode,
        _more: Properties | None,
    ) -> None:
        if self._is_connected and not self._closing.is_set():
            why = "" if code == "Unspecified error" else f": {code}"  # the line just broke
            self._trouble_is(f"the connection was lost{why}")
        self._is_connected = False

    def _subscribed(
        self,
        _client: paho.Client,
        _data: object,
        _mid: int,
        codes: list[ReasonCode],
        _more: Properties | None,
    ) -> None:
        refused = [
            each for each, code in zip(self._subscriptions, codes, strict=False) if code.is_failure
        ]
        if refused:
            self._complain(f"it does not let this client read {', '.join(refused)}")

    def _received(self, _client: paho.Client, _data: object, got: paho.MQTTMessage) -> None:
        self._packets += 1
        if self._on_message is None:
            return
        try:
            topic = got.topic
        except UnicodeDecodeError:
            return  # no topic of ours
        receive = self._on_message
        keeps_s = getattr(got.properties, "MessageExpiryInterval", None)
        _guarded(lambda: receive(Received(topic, bytes(got.payload), got.retain, keeps_s)))

    # -- trouble -----------------------------------------------------------------------------

    def _trouble_is(self, reason: str) -> None:
        self._trouble = reason
        self._complain(reason)

    def _complain(self, reason: str) -> None:
        """Log a reason once until another comes or the broker accepts again."""
        if reason != self._complained:
            LOGGER.warning("mqtt: broker %s: %s", self._broker, reason)
        self._complained = reason


def _guarded(call: Callable[[], object]) -> None:
    try:
        call()
    except Exception:
        LOGGER.exception("mqtt: a message could not be handled")
