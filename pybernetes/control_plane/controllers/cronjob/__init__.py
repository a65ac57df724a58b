"""CronJob: makes jobs at the times that a schedule names."""
