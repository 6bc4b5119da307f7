"""Check of the MQTT broker."""

from __future__ import annotations

import time

from companion.doctor.finding import Finding, note, ok
from companion.mqtt.broker import Broker
from companion.mqtt.client import CONNECT_S, Link

PATIENCE_S = CONNECT_S + 2.0
"""Seconds for the connection and the broker's answer."""

_CURES = (
    ("(PEM)", "name the right file there; until then the table plays on without the broker"),
    ("protocol", "it must speak MQTT 5, as Mosquitto does from version 1.6 on"),
    ("refused: ", "check mqtt.username and mqtt.password_file; the broker's log says more"),
    ("Connection refused", "start the broker; Mosquitto 2 needs a line `listener 1883` for others"),
    ("known", "check mqtt.host; a Pi's own broker is 127.0.0.1"),
    ("resolution", "check mqtt.host, and this machine's network"),
    ("certificate", "mqtt.ca_file names the authority that signed the broker's certificate"),
    ("TLS", "check mqtt.port: 8883 is usual with TLS, 1883 without"),
    ("closed", "its log says why; it may want TLS (mqtt.tls) or a certificate (mqtt.cert_file)"),
    ("not answer", "check mqtt.host and mqtt.port, and the broker's firewall"),
)
_OTHERWISE = "check the [mqtt] settings; until then the table plays on without the broker"


def check_broker(broker: Broker, patience_s: float = PATIENCE_S) -> Finding:
    """Connect as the table would, under another name; publishes nothing."""
    link = Link(broker, client_id=f"dice-companion-doctor-{time.time_ns()}")
    waiting_for = link.trouble
    link.start()
    until_s = time.monotonic() + patience_s
    while link.trouble == waiting_for and time.monotonic() < until_s:
        time.sleep(0.02)
    trouble = link.trouble
    link.close()
    if trouble is None:
        return ok("broker", f"{broker} accepts this table{'' if broker.tls else ', without TLS'}")
    cure = next((cure for sign, cure in _CURES if sign in trouble), _OTHERWISE)
    return note("broker", f"{broker}: {trouble}", cure)
