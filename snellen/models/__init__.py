"""Models: loading, the vision models behind tools, soft prompts, models under test."""
