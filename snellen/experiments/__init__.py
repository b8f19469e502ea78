"""Experiments about models: schema, templates, queries, protocols, trials, decisions."""
