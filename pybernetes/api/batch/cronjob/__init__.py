"""The kind CronJob, and the cron schedules that it names."""
