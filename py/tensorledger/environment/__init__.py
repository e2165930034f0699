"""The machine: where the project's files are, the user's cache, Node.js, what is missing."""
