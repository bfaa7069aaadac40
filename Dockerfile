# Braid on Debian 12, for people on another system:
#   docker build -t braid .
#   docker run --rm -it braid scripts/demo
FROM debian:12
WORKDIR /braid
# The packages first: they change less often than the sources.
COPY scripts/setup scripts/setup
RUN scripts/setup && rm -rf /var/lib/apt/lists/*
COPY . .
RUN scripts/build
CMD ["bash"]
