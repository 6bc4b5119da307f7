"""The table on its machine: system service, watchdog, backups, hotspot and network address."""
