"""The table as a system service: its unit, its installation, its watchdog, and its backups."""
