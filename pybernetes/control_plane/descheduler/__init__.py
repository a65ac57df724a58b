"""The descheduler: evicts pods that would better be elsewhere, so that the scheduler can place them again."""
