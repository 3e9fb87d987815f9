"""kube-scheduler's score plugins of soft preferences, one file each: its own normalised scores, 0..100."""
