# Braid on Debian 12, for people on another system:
#   docker build -t braid .
#   docker run --rm -it braid scripts/demo
FROM debian:12
WORKDIR /braid
# mpirun refuses root, who is the user here, without these.
ENV OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# The packages first: they change less often than the sources.
COPY scripts/setup scripts/quietly scripts/
RUN scripts/setup && rm -rf /var/lib/apt/lists/*
COPY . .
RUN scripts/build
CMD ["bash"]
