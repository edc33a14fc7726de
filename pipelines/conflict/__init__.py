"""Two active documents that say different things about one subject: found, judged, decided, respected."""
