# An image of `rankset serve`: docs/how-to/docker.md says how to build and run it.
# Packages come from locks/image.txt, each with its hash.

ARG PYTHON=python:3.12-slim

FROM ${PYTHON} AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PIP_NO_CACHE_DIR=1 \
    PIP_NO_INPUT=1 \
    PIP_ROOT_USER_ACTION=ignore
WORKDIR /source
RUN python -m venv --without-pip /opt/rankset
COPY locks/image.txt locks/image.txt
RUN python -m pip --python /opt/rankset/bin/python install --require-hashes --only-binary :all: -r locks/image.txt
COPY pyproject.toml README.md LICENSE ./
COPY src src
RUN python -m pip --python /opt/rankset/bin/python install --no-index --no-deps --no-build-isolation .
RUN python -m pip --python /opt/rankset/bin/python uninstall --yes \
    editables hatchling packaging pathspec pluggy tomlkit trove-classifiers

FROM ${PYTHON}
COPY --from=build /opt/rankset /opt/rankset
ENV PATH=/opt/rankset/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1
RUN mkdir /data /rules && chown 10001:10001 /data
USER 10001:10001
WORKDIR /data
VOLUME /data
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s \
    CMD ["python", "-c", "import http.client, sys; c = http.client.HTTPConnection('127.0.0.1', 8000, timeout=4); c.request('GET', '/healthz'); sys.exit(c.getresponse().status != 200)"]
ENTRYPOINT ["rankset", "serve"]
CMD ["/rules/rule.rankset", "--host", "0.0.0.0", "--store", "/data/rows.db"]
