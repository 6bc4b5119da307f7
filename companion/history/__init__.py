"""Finished games: the archive, standings, exports, reading accuracy and replay."""
