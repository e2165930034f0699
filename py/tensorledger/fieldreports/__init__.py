"""Public reports of leaks, each with the scenario that asks whether it reproduces, and what came of asking."""
