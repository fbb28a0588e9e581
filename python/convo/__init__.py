"""Reads and changes conversations of language models with the program ``convo``, which this package includes.

>>> import convo
>>> for message in convo.read("session.jsonl"):     # any format that convo detects
...     print(message["role"], message["content"])
>>> convo.run(["compact", "--budget", "20k", "session.jsonl"]).stdout
"""

from ._program import Error, path, read, records, run

__all__ = ["Error", "path", "read", "records", "run"]
