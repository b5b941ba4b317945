#!/usr/bin/env bash
# Run once by PostgreSQL's image, when the volume is empty: a user for each part, who owns its own database and can see
# no other. The databases of the metastores are made by deploy/prepare.py.
set -euo pipefail

psql --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname postgres \
  --set airflow="$AIRFLOW_DB_PASSWORD" --set journal="$JOURNAL_DB_PASSWORD" --set metastore="$METASTORE_DB_PASSWORD" <<'SQL'
CREATE ROLE airflow LOGIN PASSWORD :'airflow';
CREATE ROLE journal LOGIN PASSWORD :'journal';
CREATE ROLE metastore_east LOGIN PASSWORD :'metastore';
CREATE ROLE metastore_west LOGIN PASSWORD :'metastore';
CREATE DATABASE airflow OWNER airflow;
CREATE DATABASE journal OWNER journal;
REVOKE CONNECT ON DATABASE airflow, journal, postgres FROM PUBLIC;
SQL
