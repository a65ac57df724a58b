"""What controllers ask about objects: pods, services, conditions, deletion."""
