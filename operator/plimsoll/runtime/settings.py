"""What ``plimsoll run`` is told by flags and environment, checked once."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from plimsoll.errors import SettingsError
from plimsoll.kube.lease import LeaseTimes

# A DNS-1123 subdomain, which spec.schedulerName and the name of a Lease must be; also keeps a name from
# becoming something else in a field selector.
_NAME = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"

Name = Annotated[str, Field(pattern=_NAME, max_length=253)]


class Address(NamedTuple):
    """Where to listen; port 0 is any free one."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class Settings(BaseModel):
    """Every field is a flag of ``plimsoll run`` and an environment variable ``PLIMSOLL_<NAME>``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kubeconfig: str = ""
    context: str = ""
    scheduler_name: Name = "plimsoll"
    namespace: Name = "default"
    metrics_address: Address = Address("127.0.0.1", 10260)
    log_format: Literal["json", "text"] = "json"
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    leader_elect: bool = True
    lease_name: Name | Literal[""] = ""
    lease_duration_s: float = Field(default=15.0, ge=1.0, le=3600.0)
    renew_deadline_s: float = Field(default=10.0, gt=0.0)
    retry_period_s: float = Field(default=2.0, gt=0.0)
    startup_timeout_s: float = Field(default=60.0, ge=0.0)
    bind_concurrency: int = Field(default=48, ge=1, le=1024)
    events_per_second: float = Field(default=5000.0, gt=0.0)
    sweep_interval_s: float = Field(default=60.0, ge=1.0)
    volume_bind_timeout_s: float = Field(default=600.0, ge=0.0)

    @field_validator("metrics_address", mode="before")
    @classmethod
    def _parse_address(cls, value: Any) -> Any:
        return _address(value) if isinstance(value, str) else value

    @model_validator(mode="after")
    def _lease_times_fit(self) -> Self:
        """client-go's own rule: a holder must give up before others take over, and try more than once."""
        if not self.retry_period_s * 1.2 < self.renew_deadline_s < self.lease_duration_s:
            raise ValueError(
                "--lease-duration must be longer than --renew-deadline, and that longer than 1.2 times --retry-period"
            )
        return self

    @property
    def lease(self) -> str:
        """Schedulers of different names may share a namespace, so each has a Lease of its own."""
        return self.lease_name or self.scheduler_name

    @property
    def lease_times(self) -> LeaseTimes:
        return LeaseTimes(self.lease_duration_s, self.renew_deadline_s, self.retry_period_s)


def make_settings(**values: Any) -> Settings:
    """Checked settings.

    Raises:
        SettingsError: one line that names the flags and what is wrong with them.
    """
    try:
        return Settings(**values)
    except ValidationError as error:
        raise SettingsError("; ".join(_sentence(dict(e)) for e in error.errors())) from error


def _sentence(error: dict[str, Any]) -> str:
    message = str(error["msg"]).removeprefix("Value error, ")
    if not error["loc"]:
        return message
    flag = "--" + str(error["loc"][0]).removesuffix("_s").replace("_", "-")
    return f"{flag} {error['input']!r}: {message}"


def _address(text: str) -> Address:
    host, separator, port = text.rpartition(":")
    if not separator or not port.isdecimal() or int(port) > 65535:
        raise ValueError("write it as host:port, e.g. 127.0.0.1:10260, or :10260 for all addresses")
    return Address(host.strip("[]") or "0.0.0.0", int(port))  # noqa: S104 - all addresses were asked for
