"""From a Keras file to a TensorFlow.js model that loads."""
