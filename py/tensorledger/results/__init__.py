"""What a run says: results, as ``--json`` writes them."""
