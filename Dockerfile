# A Snellen server. Built by `docker build -t snellen .`; compose.yaml runs it beside a Postgres.
# Nothing secret is in the image: tokens and memory are in the volume, keys come from the environment.
FROM python:3.11-slim-bookworm AS build

ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
WORKDIR /src
RUN python -m venv /opt/snellen
ENV PATH=/opt/snellen/bin:$PATH
COPY constraints.txt ./
# PyTorch for processors alone: the usual wheels bring gigabytes of CUDA.
RUN pip install --index-url https://download.pytorch.org/whl/cpu "$(grep '^torch==' constraints.txt)"
COPY pyproject.toml README.md LICENSE NOTICE ./
COPY snellen snellen
COPY graphs graphs
COPY nodes nodes
COPY tools tools
COPY memory memory
COPY microworld microworld
RUN pip install -c constraints.txt ".[serve,postgres,s3,tables,prove,lora,ray]"

FROM python:3.11-slim-bookworm

RUN useradd --create-home --uid 10001 snellen && install -d -o snellen -g snellen /memory
COPY --from=build /opt/snellen /opt/snellen
ENV PATH=/opt/snellen/bin:$PATH \
    SNELLEN_HOME=/memory \
    HF_HUB_OFFLINE=1 \
    HF_HUB_DISABLE_TELEMETRY=1 \
    LANGSMITH_TRACING=false \
    PYTHONUNBUFFERED=1
USER snellen
WORKDIR /home/snellen
VOLUME /memory
EXPOSE 7860
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:7860/health', timeout=4)"]
STOPSIGNAL SIGTERM
# Beyond the container it listens only with a token: `docker compose run --rm snellen snellen tokens add owner`.
CMD ["snellen", "serve", "--host", "0.0.0.0"]
