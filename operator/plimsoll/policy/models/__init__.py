"""The API ``plimsoll.dev/v1alpha1`` as pydantic models: the source of the CRD and of its documentation.

What stands under a field is what ``kubectl explain`` prints. Three habits keep apply idempotent and forgiving:

- A field has a default in the schema only where a later apply of another value cannot meet a leftover of it:
  with defaults for ``weights`` or ``metricsSource``, whoever sets them later would get both.
- Items of lists have no defaults: kubectl replaces lists as a whole, and would report a change at each apply.
- What is one value to people (a source, a selector) is replaced as one: ``x-kubernetes-map-type: atomic``.
"""
