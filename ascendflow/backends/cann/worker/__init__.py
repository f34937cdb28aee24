"""Runs an OM on a device, under the interpreter of the user's choice.

Plain Python of 3.7's syntax: the standard library, numpy, and ais_bench or acl; nothing of
ascendflow. `worker_file` packs the modules into the one file that goes there. It is called
with a folder and an action, and speaks in files of that folder: `job.json` and .npy files
in, `answers.jsonl` and .npy files out, a line for each sample, so that a crash tells at
which one.
"""
