# The operator's image, for everyone with a container builder; firebolt-local builds its twin without one. A test compares
# what counts: user, entry point, packages.
FROM python:3.11-slim AS build
COPY requirements/run.txt /requirements/
RUN pip install --no-cache-dir --no-compile --require-hashes --no-deps --target /packages -r /requirements/run.txt
COPY src/firebolt_operator /packages/firebolt_operator
# The disk is read-only where this runs: byte code has to be there from the start, and needs no times to be believed.
RUN rm -rf /packages/bin && python -m compileall -q --invalidation-mode unchecked-hash -s /packages \
    -p /usr/local/lib/python3.11/site-packages /packages
COPY src/firebolt_operator/manager /manager
RUN chmod 0755 /manager

FROM python:3.11-slim
COPY --from=build /packages /usr/local/lib/python3.11/site-packages
COPY --from=build /manager /manager
RUN ln -s /usr/local/bin/python3 /usr/bin/python3 && ln -s /manager /usr/local/bin/firebolt-operator
USER 65532:65532
ENTRYPOINT ["/manager"]
