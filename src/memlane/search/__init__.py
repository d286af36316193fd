"""Search: two legs, one ranking, and the account of how each score came about."""
