"""How the learned reader was made: meanings to be worded, wordings of strangers, and the training."""
