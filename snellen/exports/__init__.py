"""What was measured, in the forms of other tools: Inspect's logs, parquet, folders of Hugging Face datasets."""
