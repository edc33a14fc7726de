"""Send rejected versions through the layers again, at the next sync. A DAG of Airflow."""

from pipelines.airflow_dags import governing

dag = governing("requeue", "Give rejected versions another try", ("version", "document", "source"))
