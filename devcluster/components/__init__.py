"""The processes of a cluster, one file each: how it is started and configured."""
