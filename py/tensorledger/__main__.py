"""``python -m tensorledger``."""

from tensorledger.cli import main

main(prog_name="tensorledger")
