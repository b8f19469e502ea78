"""Everything that a program or an experiment may call.

``registry`` declares tools, ``program`` parses, checks and runs programs, ``values`` are what flows between them.
"""
