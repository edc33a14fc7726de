"""Take something from readers at once, at every release. A DAG of Airflow."""

from pipelines.airflow_dags import governing

dag = governing("quarantine", "Take something from readers at once", ("document", "source", "version", "chunk"))
