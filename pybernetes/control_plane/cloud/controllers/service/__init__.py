"""Service: has the cloud make load balancers for Services of type LoadBalancer."""
