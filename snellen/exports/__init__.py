"""Exports of measurements and benchmarks for other tools: Inspect's logs, parquet, Hugging Face datasets."""
