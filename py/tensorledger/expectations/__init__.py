"""What both runtimes are held to: expectations, model descriptions and deviations, as people write them in harness/."""
