import uuid

from pybernetes.lib.random_uuid import random_uuid


def test_it_is_a_random_uuid_in_its_usual_spelling() -> None:
    many = {random_uuid() for _ in range(1000)}
    assert len(many) == 1000
    for text in many:
        parsed = uuid.UUID(text)
        assert str(parsed) == text
        assert parsed.version == 4 and parsed.variant == uuid.RFC_4122


def test_every_bit_that_may_vary_does() -> None:
    ones = zeros = 0
    for _ in range(500):
        value = uuid.UUID(random_uuid()).int
        ones |= value
        zeros |= ~value & (1 << 128) - 1
    assert (ones & zeros).bit_count() == 122
