"""The ways in which experiments ask: multiple choice, free answers, scored pairs."""
