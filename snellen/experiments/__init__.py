"""Experiments about models: designs, templates, queries, protocols, trials, decisions, reports."""
