"""Tools over regions: lists of them, relations between them, what they show."""
