"""What the harness and its workers say to each other: one set of messages, JSON-RPC 2.0, one line each."""
