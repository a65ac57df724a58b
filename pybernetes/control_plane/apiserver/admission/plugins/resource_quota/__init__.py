"""ResourceQuota: the plugin, its configuration, and the charging of quotas."""
