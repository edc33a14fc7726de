"""Pages of the knowledge base for the Airflow UI: thin over `pipelines`, drawn on the server, nothing from outside."""
