from ascendflow.tasks import DOIT_CONFIG, task_pipelines
