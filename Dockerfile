# Signalbox in a container. docs/install.md says how to run it; compose.yaml runs it with PostgreSQL.
#
#     docker build -t signalbox .
#     docker run --init -p 127.0.0.1:8080:8080 -v signalbox:/data signalbox
#
# The base is pinned by its full tag, under which a new build gets Debian's security updates. Who wants the same bytes
# each time pins a digest: --build-arg BASE=python@sha256:…
ARG BASE=python:3.11.15-slim-trixie

FROM ${BASE} AS build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore
WORKDIR /src
# The base has the pip that fills it; the program needs none.
RUN python -m venv --without-pip /opt/signalbox
COPY requirements.lock ./
RUN python -m pip --python /opt/signalbox install --require-hashes -r requirements.lock
COPY pyproject.toml README.md ./
COPY adapters adapters/
COPY bot bot/
COPY config config/
COPY runtime runtime/
COPY signalbox signalbox/
COPY tools tools/
RUN python -m pip --python /opt/signalbox install --no-deps --no-build-isolation .

FROM ${BASE}
# By number, so that an orchestrator can see that it is not root.
RUN groupadd --gid 10001 signalbox \
    && useradd --uid 10001 --gid 10001 --home-dir /data --no-create-home --shell /usr/sbin/nologin signalbox \
    && install -d -o signalbox -g signalbox -m 0700 /data
COPY --from=build /opt/signalbox /opt/signalbox
# Data in /data; settings in /etc/signalbox/signalbox.toml, which need not be there; secrets in /run/secrets, each file
# called as the variable it stands for. All addresses, since the engine decides which port of the machine leads here.
ENV PATH=/opt/signalbox/bin:$PATH \
    XDG_CONFIG_HOME=/etc \
    SIGNALBOX_DATA_DIR=/data \
    SIGNALBOX_SECRETS__FOLDER=/run/secrets \
    SIGNALBOX_WEB__HOST=0.0.0.0
# The shell tool is left at sandbox = "auto": it makes a sandbox of its own for each command (bubblewrap), and where the
# engine forbids that, as Docker does by default, it refuses every command and says why. The two ways out are choices
# for whoever runs the container, not for the image:
#   - let bubblewrap work: --security-opt seccomp=unconfined --security-opt apparmor=unconfined
#     --security-opt systempaths=unconfined. Commands have no network and see only their conversation's files.
#   - SIGNALBOX_TOOLS__SHELL__SANDBOX=external: the container is the boundary. Commands run beside the program as the
#     same user: they have the network, and can read and change all of /data and /run/secrets.
USER 10001:10001
WORKDIR /data
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM
# At whatever port it listens, and by no proxy.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s CMD ["python", "-I", "-c", "\
import http.client, json, os\n\
url = json.load(open(os.environ['SIGNALBOX_DATA_DIR'] + '/control.json'))['url']\n\
connection = http.client.HTTPConnection(url.removeprefix('http://'), timeout=3)\n\
connection.request('GET', '/healthz')\n\
exit(connection.getresponse().status != 200)"]
# Started as process 1 it would have to collect what tools leave behind: --init (in compose, init: true) does that.
ENTRYPOINT ["signalbox"]
CMD ["run"]
