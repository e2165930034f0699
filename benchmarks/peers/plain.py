"""Loads a planted scenario without tensorledger, for the peers."""

import importlib.util


def load(path):
    spec = importlib.util.spec_from_file_location("planted", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.scenario
