"""Examined from outside: queries about models whose weaknesses are known, with a truth that no examiner has a part in.

`python -m benchmarks.outside --help` says how it is run; `README.md` beside this file how it is made.
"""
