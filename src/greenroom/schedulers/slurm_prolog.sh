#!/bin/sh
# Slurm Prolog of Greenroom: a job starts only on a boot of a node that was admitted.
#
# Exit code 1: Slurm drains the node ("Prolog error") and puts the job back in the queue; with
# SchedulerParameters=nohold_on_prolog_fail it then starts elsewhere instead of being held.
# Our own check jobs pass, or no node could ever be checked.
#
# Slurm gives a Prolog no PATH and none of the system's settings. They are read from this file, if
# it is there, as lines NAME=value: GREENROOM (the program), GREENROOM_CONTROLLER (URL),
# GREENROOM_STATE_DIR, GREENROOM_KEY_FILE.
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
env_file=${GREENROOM_NODE_ENV:-/etc/greenroom/node.env}
if [ -r "$env_file" ]; then
  set -a
  . "$env_file"
  set +a
fi
# A bound of our own: a hung file system must not hold the job until PrologEpilogTimeout.
timeout -k 1 20 "${GREENROOM:-greenroom}" ask >/dev/null || exit 1
