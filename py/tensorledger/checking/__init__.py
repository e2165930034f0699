"""``tensorledger check``: is a model that someone brought ready for the web: converted, compared, live, released."""
