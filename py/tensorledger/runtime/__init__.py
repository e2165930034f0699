"""The Python worker. Only what is in here imports TensorFlow, and only in a process of its own."""
