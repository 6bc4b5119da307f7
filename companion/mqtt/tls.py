"""Encryption to a broker, and why a connection failed."""

from __future__ import annotations

import ssl

from companion.mqtt.broker import Broker


def context_of(broker: Broker) -> ssl.SSLContext:
    """How to encrypt the connection to a broker.

    Python 3.13 checks more by default (RFC 5280 to the letter) and so refuses the certificates of
    an authority made at home, for instance by the recipe of Mosquitto's manual. Signature, dates
    and name are checked as before.

    Raises:
        OSError: A file cannot be read.
        ValueError: A file is no certificate, or the key does not fit or needs a passphrase.
    """
    try:
        context = ssl.create_default_context(cafile=str(broker.ca_file) if broker.ca_file else None)
    except ssl.SSLError as error:
        raise ValueError("mqtt.ca_file: expected certificates (PEM)") from error
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    if broker.cert_file is not None:
        key = str(broker.key_file) if broker.key_file else None
        try:
            context.load_cert_chain(str(broker.cert_file), key, password=_no_passphrase)
        except ssl.SSLError as error:
            expected = "expected a certificate and its key (PEM)"
            raise ValueError(f"mqtt.cert_file, mqtt.key_file: {expected}") from error
    return context


def _no_passphrase() -> str:
    """Refuse a key with a passphrase: OpenSSL would ask for it on the terminal."""
    raise ValueError("the key has a passphrase")


def reason_of(error: Exception) -> str:
    """Why a connection failed, in words without secrets."""
    if isinstance(error, TimeoutError):
        return "it does not answer"
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not valid: {error.verify_message}"
    if isinstance(error, FileNotFoundError):
        return f"a file of the certificate is missing: {error.strerror}"
    if isinstance(error, ssl.SSLError):
        return f"TLS: {error.reason or 'it failed'}"
    return getattr(error, "strerror", None) or str(error)
