"""Becomes a worker: python -I -S launch.py DESCRIPTOR PARENT COMMAND…

Run as a script between the harness and the worker, because what it does can be done only in the new process: lead a
session of its own (so that all of it can be killed at once), die with the harness, have the channel on descriptor 3.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1

descriptor, parent, command = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
os.setsid()
if sys.platform == "linux":  # elsewhere a worker ends when its channel closes, unless it is stuck
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
if os.getppid() != parent:
    sys.exit("the harness has gone")
if descriptor == 3:
    os.set_inheritable(3, True)
else:
    os.dup2(descriptor, 3)
os.execv(command[0], command)
