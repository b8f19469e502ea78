"""Readers of questions about models."""
