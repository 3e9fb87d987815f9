"""Just enough of Kubernetes' quantities to know how large a node is and what it uses."""

import re

_FACTORS = {
    "n": 1e-9,
    "u": 1e-6,
    "m": 1e-3,
    "": 1.0,
    "k": 1e3,
    "M": 1e6,
    "G": 1e9,
    "T": 1e12,
    "Ki": 2.0**10,
    "Mi": 2.0**20,
    "Gi": 2.0**30,
    "Ti": 2.0**40,
}
_QUANTITY = re.compile(r"(\d+(?:\.\d+)?)([a-zA-Z]*)")


def number(quantity: str) -> float:
    """The number that a quantity such as `64Gi` or `1500m` stands for.

    Raises:
        ValueError: it is not written in one of the usual ways.
    """
    found = _QUANTITY.fullmatch(quantity)
    if found is None or found[2] not in _FACTORS:
        raise ValueError(f"not a quantity: {quantity!r}")
    return float(found[1]) * _FACTORS[found[2]]
