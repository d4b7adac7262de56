#!/bin/sh
# What the GPUs of this machine reach: one table, in under 6 minutes; builds nothing.
# Needs Python with this package and PyTorch; PYTHON names it. Without a GPU: gpu.sh --cpu 2, a rehearsal.
exec timeout -k 10 350 "${PYTHON:-python3}" "$(dirname "$0")/gpu.py" "$@"
