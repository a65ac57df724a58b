"""Reading and writing bodies: media types, decoding, and the forms of an answer."""
