"""What is remembered, within bounds, and the memory that it and the work for others take."""
