"""The Reasoner over a chat model."""
