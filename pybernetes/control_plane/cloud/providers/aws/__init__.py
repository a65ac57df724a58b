"""Amazon Web Services: EC2 instances, network load balancers, routes of a route table. Needs the extra ``aws`` (boto3)."""
