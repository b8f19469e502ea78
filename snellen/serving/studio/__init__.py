"""LangGraph's server, for Studio and for clients of its API: the graphs, one checkpoint store, artifacts, and tokens.

``langgraph.json`` names what is here. Threads that were begun on the command line or a page are threads of the server,
and the other way round; the server names them by UUIDs, and ``names`` knows which is which.
"""
