#!/usr/bin/env bash
# Installs what some tests need besides Python packages: a browser, a database server, Node and Java, from Debian's packages.
# Where that is not possible, those tests are skipped, and each says in one sentence what it needs.
set -euo pipefail
missing=()
command -v chromium >/dev/null || command -v google-chrome >/dev/null || missing+=(chromium)
ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null || missing+=(postgresql)
command -v node >/dev/null || missing+=(nodejs npm)
command -v java >/dev/null || [ -x "${JAVA_HOME:-/none}/bin/java" ] || missing+=(openjdk-17-jre-headless)
if [ ${#missing[@]} -eq 0 ]; then
  exit 0
fi
if ! command -v apt-get >/dev/null || [ "$(id -u)" -ne 0 ]; then
  echo "Not installed: ${missing[*]}. The tests that need them will be skipped; as root on Debian, this script installs them."
  exit 0
fi
echo "Installing ${missing[*]} for the tests that need them."
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -qq -y --no-install-recommends "${missing[@]}" >/dev/null
