"""The public API, which ``import snellen`` offers."""
