"""Certificates of one cluster: two authorities, three leaves and the key that signs tokens.

All keys are P-256, since a cluster is started often and RSA keys take seconds to find.
"""

import datetime as dt
import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_LIFETIME = dt.timedelta(days=365)
# Clocks of containers and their hosts differ by seconds; a certificate of the future is refused.
_BACKDATED = dt.timedelta(hours=1)
_SERVING_NAMES = ("localhost", "kubernetes.default.svc", "metrics-server.kube-system.svc")
_SERVING_ADDRESSES = ("127.0.0.1", "10.0.0.1")


@dataclass(frozen=True, slots=True)
class Pki:
    """The files in one folder; `write` makes them."""

    folder: Path

    @property
    def ca(self) -> Path:
        return self.folder / "ca.crt"

    @property
    def front_ca(self) -> Path:
        return self.folder / "front-ca.crt"

    @property
    def token_key(self) -> Path:
        return self.folder / "service-account.key"

    @property
    def token_public_key(self) -> Path:
        return self.folder / "service-account.pub"

    def certificate(self, name: str) -> Path:
        """The certificate of `serving`, `admin` or `front`."""
        return self.folder / f"{name}.crt"

    def key(self, name: str) -> Path:
        """The private key of `serving`, `admin` or `front`."""
        return self.folder / f"{name}.key"

    def write(self) -> None:
        """Make all keys and certificates."""
        authority = _Authority.create("devcluster-ca")
        front = _Authority.create("devcluster-front-ca")
        self.ca.write_bytes(_pem(authority.certificate))
        self.front_ca.write_bytes(_pem(front.certificate))
        self._write_leaf("serving", authority.serving("kube-apiserver"))
        self._write_leaf("admin", authority.client("admin", organization="system:masters"))
        self._write_leaf("front", front.client("front-proxy-client"))
        self._write_token_keys()

    def _write_leaf(self, name: str, leaf: "_Leaf") -> None:
        self.certificate(name).write_bytes(_pem(leaf.certificate))
        _write_secret(self.key(name), leaf.key)

    def _write_token_keys(self) -> None:
        key = _new_key()
        _write_secret(self.token_key, key)
        self.token_public_key.write_bytes(
            key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
        )


@dataclass(frozen=True, slots=True)
class _Leaf:
    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey


@dataclass(frozen=True, slots=True)
class _Authority:
    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    @classmethod
    def create(cls, common_name: str) -> "_Authority":
        key = _new_key()
        subject = _subject(common_name)
        builder = _builder(subject, issuer=subject, key=key).add_extension(
            x509.BasicConstraints(ca=True, path_length=None), critical=True
        )
        return cls(builder.sign(key, hashes.SHA256()), key)

    def serving(self, common_name: str) -> _Leaf:
        names = [x509.DNSName(name) for name in _SERVING_NAMES]
        addresses = [x509.IPAddress(ipaddress.ip_address(address)) for address in _SERVING_ADDRESSES]
        return self._leaf(
            _subject(common_name),
            usage=ExtendedKeyUsageOID.SERVER_AUTH,
            extensions=[x509.SubjectAlternativeName([*names, *addresses])],
        )

    def client(self, common_name: str, *, organization: str | None = None) -> _Leaf:
        return self._leaf(_subject(common_name, organization), usage=ExtendedKeyUsageOID.CLIENT_AUTH)

    def _leaf(
        self,
        subject: x509.Name,
        *,
        usage: x509.ObjectIdentifier,
        extensions: Iterable[x509.ExtensionType] = (),
    ) -> _Leaf:
        key = _new_key()
        builder = _builder(subject, issuer=self.certificate.subject, key=key)
        for extension in (x509.ExtendedKeyUsage([usage]), *extensions):
            builder = builder.add_extension(extension, critical=False)
        return _Leaf(builder.sign(self.key, hashes.SHA256()), key)


def _builder(subject: x509.Name, *, issuer: x509.Name, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
    now = dt.datetime.now(dt.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _BACKDATED)
        .not_valid_after(now + _LIFETIME)
    )


def _subject(common_name: str, organization: str | None = None) -> x509.Name:
    attributes = [x509.NameAttribute(NameOID.COMMON_NAME, common_name)]
    if organization is not None:
        attributes.append(x509.NameAttribute(NameOID.ORGANIZATION_NAME, organization))
    return x509.Name(attributes)


def _new_key() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


def _write_secret(path: Path, key: ec.EllipticCurvePrivateKey) -> None:
    path.touch(mode=0o600)
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            # SEC 1: etcd, the API server and OpenSSL all read it.
            serialization.PrivateFormat.TraditionalOpenSSL,
            serialization.NoEncryption(),
        )
    )
