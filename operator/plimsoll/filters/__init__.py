"""Hard constraints: which nodes a pod may go to, and why not to the others.

A filter that looks at the node alone answers for one node (``NodeFilter``), and its verdicts are kept per class of
pods until the node changes. A filter that looks at what runs there answers for all nodes at once
(``ClusterFilter``). Order and sentences are kube-scheduler's; the first filter that refuses a node ends it.
"""
