"""One module for each page: reads from `pipelines.report`, acts through the use cases or a DAG."""
