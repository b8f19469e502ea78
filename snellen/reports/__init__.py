"""Reports: results as pages, plots, tables and text."""
