"""The learned reader: wordings that no rule foresees, read as typed meanings by a small network."""
