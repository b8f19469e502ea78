"""Learning from wrong answers: needs, feedback, evidence, examples, recalled prompts."""
