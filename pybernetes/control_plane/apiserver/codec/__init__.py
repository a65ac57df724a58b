"""Reading and writing bodies: media types, decoding, and the forms of an answer.

``bodies`` makes a JSON value of a body and ``decoding`` an object of a kind; ``negotiation`` finds the form that the client
wants, ``rendering`` puts objects into it, ``websocket_stream`` sends long answers as messages.
"""
