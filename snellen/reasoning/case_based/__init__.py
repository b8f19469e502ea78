"""The Reasoner without a chat model: it adapts demonstrations."""
