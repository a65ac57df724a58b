from pybernetes.api import go


def test_structs_keep_their_order_and_maps_are_sorted() -> None:
    item = go.Struct(Type="x", Labels={"b": 1, "a": 2}, Rules=[go.Struct(Z=None, A=True)])
    assert go.value(item) == '{"Type":"x","Labels":{"a":2,"b":1},"Rules":[{"Z":null,"A":true}]}'
