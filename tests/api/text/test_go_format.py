from pybernetes.api.text import go_format


def test_structs_keep_their_order_and_maps_are_sorted() -> None:
    item = go_format.Struct(Type="x", Labels={"b": 1, "a": 2}, Rules=[go_format.Struct(Z=None, A=True)])
    assert go_format.value(item) == '{"Type":"x","Labels":{"a":2,"b":1},"Rules":[{"Z":null,"A":true}]}'
