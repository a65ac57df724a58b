"""A server with users who may do little, and some of those users."""

from tests.control_plane.apiserver.authz.users import admin as admin
from tests.control_plane.apiserver.authz.users import nobody as nobody
from tests.control_plane.apiserver.authz.users import server as server
