"""Give back to readers what was quarantined. A DAG of Airflow."""

from pipelines.airflow_dags import governing

dag = governing("restore", "Give back what was quarantined", ("document", "source", "version", "chunk"))
