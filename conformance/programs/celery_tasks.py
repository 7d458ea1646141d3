"""The application of the Celery job: its worker imports it, and the job calls its tasks."""

from celery import Celery

from account import Account

account = Account.from_environment()

app = Celery(
    "celery_tasks",
    broker=f"azurestoragequeues://:{account.key}@{account.queue}",
    backend=f"azureblockblob://{account.connection}",
)
app.conf.update(
    azureblockblob_container_name="celery-results",
    broker_connection_retry_on_startup=False,
    # The queues of the account are shared with other runs.
    broker_transport_options={"queue_name_prefix": "programs-", "polling_interval": 0.1, "visibility_timeout": 60},
    worker_prefetch_multiplier=1,
)


@app.task
def add(first, second):
    return first + second


@app.task(bind=True, max_retries=3, default_retry_delay=0)
def fails_once(self):
    if self.request.retries == 0:
        raise self.retry(countdown=0)
    return self.request.retries


@app.task
def fails():
    raise ValueError("as asked")
