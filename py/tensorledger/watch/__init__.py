"""``tensorledger watch``: a page that someone else wrote, watched from outside while an action is repeated on it."""
