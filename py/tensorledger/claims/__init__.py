"""The claims that the project settles: each measured, with where it holds and the evidence."""
