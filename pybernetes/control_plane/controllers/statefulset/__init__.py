"""StatefulSet: pods with names, places in an order and storage of their own."""
