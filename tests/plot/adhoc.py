"""Small networks of nodes with places: a chain of hops, and Wi-Fi beside a bus and a cell."""

CHAIN = """
name = "chain"
duration = "4 s"

[area]
width = 240
height = 100

[[node]]
name = "client"
x = 20
y = 50
[[node]]
name = "relay"
x = 110
y = 50
[[node]]
name = "server"
x = 200
y = 50
[[node]]
name = "walker"
count = 3
moves = { waypoint = { speed = [2, 5] } }

[[medium]]
name = "air"
standard = "b"
rate = "5.5 Mb/s"
channels = 2
routing = "ROUTING"
radio = { power_dbm = 16 }
nodes = ["client", "relay", "server", "walker"]

[[link]]
name = "up"
medium = "air"
from = "client"
to = "server"
[[link]]
name = "down"
medium = "air"
from = "server"
to = "client"

[[flow]]
name = "mptcp"
controller = "lia"
path = [{ links = ["up"], back = ["down"], channel = "each" }]
"""

MIXED = """
name = "mixed"
duration = "4 s"
warmup = "1 s"

[area]
width = 200
height = 100

[[node]]
name = "phone"
count = 2
moves = { waypoint = { speed = [1, 3] } }
[[node]]
name = "ap"
x = 60
y = 60
[[node]]
name = "tower"
x = 170
y = 80

[[medium]]
name = "wlan"
standard = "g"
radio = { power_dbm = 23 }
[[bus]]
name = "lan"
rate = "10 Mb/s"
nodes = ["printer"]
[[cell]]
name = "lte"
base = "tower"
snr_db = 15

[[link]]
name = "wlan-up"
medium = "wlan"
from = "phone"
to = "ap"
[[link]]
name = "wlan-down"
medium = "wlan"
from = "ap"
to = "phone"
[[link]]
name = "lan-up"
medium = "lan"
from = "ap"
to = "server"
[[link]]
name = "lan-down"
medium = "lan"
from = "server"
to = "ap"
[[link]]
name = "lte-up"
medium = "lte"
from = "phone"
to = "tower"
[[link]]
name = "lte-down"
medium = "lte"
from = "tower"
to = "phone"

[[flow]]
name = "mptcp"
count = 2
controller = "lia"
path = [
  { links = ["wlan-up", "lan-up"], back = ["lan-down", "wlan-down"] },
  { links = ["lte-up"], back = ["lte-down"] },
]
"""
