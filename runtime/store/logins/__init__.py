"""Transactions of sign-ins: kept, renewed by one node at a time, and given up."""
