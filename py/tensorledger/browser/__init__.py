"""Chromium: where it is, how it is started, and the pages in it that are workers."""
