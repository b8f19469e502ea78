"""Reading of instructions about pictures: from words to meanings, every word accounted for."""
