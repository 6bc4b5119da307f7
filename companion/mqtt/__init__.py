"""The table on MQTT: topics, payloads, the connection, and what is published."""
