"""A contender's command line in one place: the words in braces are put in."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.throughput.contenders import Contender
from benchmarks.throughput.place import Place
from devcluster import binaries
from devcluster.ports import choose


@dataclass(frozen=True, slots=True)
class Launch:
    """Attributes:
    ready, metrics: URLs, see Contender.
    """

    command: tuple[str, ...]
    ready: str = ""
    metrics: str = ""


def launch(contender: Contender, place: Place, names: Path) -> Launch:
    """Args:
    names: the file with the names of the measured pods.
    """
    words = _words(place, names)
    if contender.configuration is not None:
        text = json.dumps(contender.configuration).replace("{kubeconfig}", words["kubeconfig"])
        Path(words["configuration"]).write_text(text, encoding="utf-8")
    command = tuple(word.format_map(words) for word in contender.command)
    return Launch(command, contender.ready.format_map(words), contender.metrics.format_map(words))


def _words(place: Place, names: Path) -> Mapping[str, str]:
    pki = place.pki
    found = {
        "python": sys.executable,
        "kube_scheduler": binaries.ensure("kube-scheduler"),
        "kubeconfig": place.kubeconfig,
        "configuration": place.folder / "kube-scheduler.json",
        "names": names,
        "port": choose().kube_scheduler,
        "server": place.server,
        "ca": pki.ca,
        "admin_cert": pki.certificate("admin"),
        "admin_key": pki.key("admin"),
        "serving_cert": pki.certificate("serving"),
        "serving_key": pki.key("serving"),
    }
    return {word: str(value) for word, value in found.items()}
