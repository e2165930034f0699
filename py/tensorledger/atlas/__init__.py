"""The atlas: what every scenario shows on every release of TensorFlow.js, by exact counts."""
