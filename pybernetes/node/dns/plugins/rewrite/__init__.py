"""Rewriting of questions and of what is answered to them."""
