"""Snellen examines the sight of vision-language models and corrects it."""
