# Serves the BERT Explorer on port 7860 as an ordinary user; the bundled models are in the image.
FROM python:3.11-slim AS frontend
RUN apt-get update && apt-get install --yes --no-install-recommends npm
WORKDIR /made
COPY requirements.txt ./
RUN pip install --no-cache-dir $(grep -E '^(gradio|plotly)==' requirements.txt)
COPY deploy ./deploy
RUN python -m deploy.frontend /made/frontend && mkdir -p /made/frontend

FROM python:3.11-slim
ARG REQUIREMENTS=requirements.txt
RUN useradd --create-home --uid 1000 explorer && mkdir /data && chown explorer /data
WORKDIR /home/explorer/app
COPY --chown=explorer requirements*.txt ./
RUN pip install --no-cache-dir "$(grep '^torch==' requirements.txt)" --index-url https://download.pytorch.org/whl/cpu \
 && pip install --no-cache-dir -r "$REQUIREMENTS"
COPY --from=frontend /made/frontend /usr/local/frontend
COPY --chown=explorer app.py ./
COPY --chown=explorer assets ./assets
COPY --chown=explorer explorer ./explorer
USER explorer
ENV GRADIO_SERVER_NAME=0.0.0.0 GRADIO_SERVER_PORT=7860
EXPOSE 7860
# Any answer will do: a class's server refuses who has no password. A cluster's front may take minutes to start.
HEALTHCHECK --interval=30s --timeout=10s --start-period=5m CMD ["python", "-c", "import http.client, os; \
asked = http.client.HTTPConnection('127.0.0.1', int(os.environ['GRADIO_SERVER_PORT']), timeout=8); \
asked.request('GET', '/explorer/line'); raise SystemExit(asked.getresponse().status >= 500)"]
CMD ["python", "app.py"]
