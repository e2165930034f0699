"""What a model predicts in Python, for TensorFlow.js's predictions to be held against. Imports TensorFlow."""
