"""Bisection: between which releases something changed."""
