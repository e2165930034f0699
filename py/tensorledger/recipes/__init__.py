"""What each way of releasing a model leaves: model by recipe by use, on a target."""
