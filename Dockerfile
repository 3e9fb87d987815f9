# The operator's image:
#
#     docker build -t plimsoll:0.1.0 .
#
# Tags can move. To build from bases that cannot, name them by digest:
#
#     docker build --build-arg PYTHON_IMAGE=docker.io/library/python:3.11-slim-bookworm@sha256:... \
#                  --build-arg UV_IMAGE=ghcr.io/astral-sh/uv:0.13.8@sha256:... -t plimsoll:0.1.0 .
#
# where the digests are what `docker buildx imagetools inspect <image>` prints. Both bases exist for amd64
# and arm64: `docker buildx build --platform linux/amd64,linux/arm64` makes an image for both.

ARG PYTHON_IMAGE=docker.io/library/python:3.11-slim-bookworm
ARG UV_IMAGE=ghcr.io/astral-sh/uv:0.13.8

FROM ${UV_IMAGE} AS uv

# Both stages use the same base, at the same path: the environment points to the interpreter.
FROM ${PYTHON_IMAGE} AS build
COPY --from=uv /uv /usr/local/bin/uv
ENV UV_COMPILE_BYTECODE=1 \
    UV_LINK_MODE=copy \
    UV_NO_CACHE=1 \
    UV_PYTHON_DOWNLOADS=never \
    UV_PROJECT_ENVIRONMENT=/opt/plimsoll
WORKDIR /src
# First what seldom changes: this layer lasts until the lock file does.
COPY pyproject.toml uv.lock ./
RUN uv sync --locked --no-dev --no-editable --no-install-project
COPY README.md LICENSE ./
COPY operator operator
RUN uv sync --locked --no-dev --no-editable

FROM ${PYTHON_IMAGE}
ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="plimsoll" \
      org.opencontainers.image.description="A Kubernetes scheduler that places pods by what the nodes carry now." \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.url="https://plimsoll.dev" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
COPY --from=build /opt/plimsoll /opt/plimsoll
# Bytecode is compiled already, and the file system may be read-only.
ENV PATH=/opt/plimsoll/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1
# As a number, so that the kubelet can tell that it is not root.
USER 65532:65532
WORKDIR /
EXPOSE 10260
ENTRYPOINT ["plimsoll"]
CMD ["run"]
