"""The pytest plugin: tests held to what they leave. ``entry`` is what pytest loads; all else waits until it is used."""
