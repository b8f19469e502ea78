"""Threads in Postgres: the server and its schemas, locks, and the saver. Imported only where Postgres is used."""
