"""The resident process: it stays after the first command of a home, and runs the next ones without importing anew.

`snellen ask` took eight seconds of a processor, of which a warm question takes a tenth of one: the rest is torch,
transformers and LangGraph being imported, and none of them can be left out (docs/results/speed/README.md).

**It forks.** The resident process imports the libraries and reads the checkpoints of one profile, and never answers
anything itself. For each command it forks a child that gets the client's own file descriptors, folder, environment and
signals, runs the command as a process of its own would, and ends. So output, terminal, questions to the user, exit
statuses and what Ctrl-C does need no protocol; nothing that a command leaves behind reaches the next; a command that
is killed takes nothing along, and one that runs outlives the resident process. A server of requests in one process
would need a second way of doing each of these. What a fork needs holds because nothing else happens in that process:

- no thread of Python runs in it while it forks (it counts them, and refuses), and torch computes with one thread, so
  that no team of threads is lost; a child takes as many as torch would have taken;
- it opens no database, no connection and no accelerator; where there is one, checkpoints are left to the children;
- weights are read before the fork, and nobody writes to them, so that all children share their memory.

**It knows when it is another.** A client sends a digest of all that a process of its own would have begun with
(`circumstances`); if that of the resident process differs, it ends, and the client starts another.

**A command begins once.** A client gives its word to a child that is ready, and only then the command begins; until
then it may go on alone instead. What ended without a status after that is told, and never run again.

Linux only: elsewhere the libraries are not safe to fork, and every command runs in a process of its own.
"""
